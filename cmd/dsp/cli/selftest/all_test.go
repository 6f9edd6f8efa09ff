package selftest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every check passes, and compares what testdata/checks.txt says: not less than before.
func TestAllPass(t *testing.T) {
	var got strings.Builder
	of := regexp.MustCompile(`: .* vs plain`) // kernels of this machine
	for _, c := range All() {
		r := c.Do(t.Context(), 1)
		if !r.OK || r.Error > 0.02 || r.Name != c.Name || r.Seconds < 0 {
			t.Errorf("%+v", r)
		}
		found := r.Found
		if r.Cases > 0 {
			found, _, _ = strings.Cut(found, ",")
		} else {
			found, _, _ = strings.Cut(found, "[") // what training finds, to the bits of the kernels
		}
		fmt.Fprintf(&got, "%s: %s\n", of.ReplaceAllString(r.Name, " vs plain"), strings.TrimSpace(found))
	}
	if want, err := os.ReadFile("testdata/checks.txt"); err != nil || got.String() != string(want) {
		t.Errorf("%v; the checks are now\n%s", err, got.String())
	}
}

// A check that fails or panics says why, and one that says nothing says how close the numbers were.
func TestResults(t *testing.T) {
	do := func(run func(ctx context.Context, r *rand.Rand, w *worst) (string, error)) Result {
		return Check{"x", run}.Do(t.Context(), 3)
	}
	for want, c := range map[string]struct {
		result Result
		ok     bool
	}{
		"done":      {do(func(context.Context, *rand.Rand, *worst) (string, error) { return "done", nil }), true},
		"bad":       {do(func(context.Context, *rand.Rand, *worst) (string, error) { return "done", errors.New("bad") }), false},
		"panic: no": {do(func(context.Context, *rand.Rand, *worst) (string, error) { panic("no") }), false},
		"3 comparisons, relative error at most 1.0e-01": {do(func(_ context.Context, _ *rand.Rand, w *worst) (string, error) {
			return "", errors.Join(w.near("a", 11, 10, 0.1), w.near("b", math.Inf(1), math.Inf(1), 0), w.near("c", 0.01, 0, 0.5))
		}), true},
		"a: got 12, want 10": {do(func(_ context.Context, _ *rand.Rand, w *worst) (string, error) { return "", w.near("a", 12, 10, 0.1) }), false},
		"a: got NaN, want 1": {do(func(_ context.Context, _ *rand.Rand, w *worst) (string, error) {
			return "", w.near("a", math.NaN(), 1, 9)
		}), false},
		"a: got 2, want +Inf": {do(func(_ context.Context, _ *rand.Rand, w *worst) (string, error) {
			return "", w.near("a", 2, math.Inf(1), 9)
		}), false},
		"a: got -1.5, want -1": {do(func(_ context.Context, _ *rand.Rand, w *worst) (string, error) {
			return "", w.nearAll("a", []float32{1, -1.5}, []float64{1, -1}, 0.4)
		}), false},
	} {
		if c.result.Found != want || c.result.OK != c.ok || c.result.Name != "x" {
			t.Errorf("%+v, expected %s", c.result, want)
		}
	}
	one, two := rand.New(rand.NewPCG(3, 0)).Uint64(), uint64(0)
	do(func(_ context.Context, r *rand.Rand, _ *worst) (string, error) { two = r.Uint64(); return "", nil })
	if one != two {
		t.Error("the seed of a check is not that of its generator")
	}
}

// The check of all launches is left out unless all checks are chosen.
func TestOnly(t *testing.T) {
	all := []Check{{Name: "a b"}, {Name: "b"}, {Name: launchesAll}}
	for pattern, want := range map[string]int{"": 3, "b": 3, "a": 1, "^b": 1, "x": 0} {
		if got := Only(all, regexp.MustCompile(pattern)); len(got) != want || len(all) != 3 {
			t.Errorf("%q: %d checks, expected %d", pattern, len(got), want)
		}
	}
}

// The plain loops are the definition of a product of matrices.
func TestProduct(t *testing.T) {
	x, y := []float32{1, 2, 3, 4, 5, 6}, []float32{1, 0, 2, 1, 0, 3}
	c := []float32{10, 20, 30, 40}
	for _, test := range []struct {
		transX, transY bool
		beta           float32
		want           string
	}{
		{false, false, 0, "[5 11 14 23]"}, {true, false, 0, "[7 18 10 22]"}, {false, true, 1, "[17 30 46 62]"}, {true, true, 2, "[31 56 74 100]"},
	} {
		if got := fmt.Sprint(product(test.transX, test.transY, 2, 2, 3, x, y, test.beta, c)); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// Smoothing by ℓ₂ is the best of all mixtures: one of the best output alone, or of two whose scores are near.
func TestSmoothL2(t *testing.T) {
	for _, c := range []struct {
		scores  []float64
		μ, want float64
	}{
		{[]float64{3}, 1, 3}, {[]float64{3, 1}, 1, 3}, {[]float64{1, 1}, 1, 1.25}, {[]float64{1, 1, 1, 1}, 2, 1.75}, {[]float64{1, 0.5}, 1, 1.0625},
	} {
		var all []output
		for _, s := range c.scores {
			all = append(all, output{score: s})
		}
		if got := smoothL2(all, c.μ); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v at %v: %v, expected %v", c.scores, c.μ, got, c.want)
		}
	}
}
