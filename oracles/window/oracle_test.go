package window

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// allScores returns the scores of all allowed boxes, best first.
func allScores(θ *structured.Potentials) (all []float64) {
	θ.Structure.Each(θ, 0, func(y []int32) {
		if s := θ.Score(0, y); !math.IsInf(s, -1) {
			all = append(all, s)
		}
	})
	slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(b, a) })
	return all
}

// The best boxes of grids that are larger than the contract suite's agree with enumeration.
func TestAgainstEnumeration(t *testing.T) {
	o := New()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		θ := drawPotentials(r)
		all := allScores(θ)
		tolerance := 0.0
		if len(all) > 0 {
			tolerance = 1e-9 * (1 + math.Abs(all[0]) + math.Abs(all[len(all)-1]))
		}
		y, value := make([]int32, 4), make([]float64, 1)
		o.Max(θ, y, value)
		if len(all) == 0 {
			if !math.IsInf(value[0], -1) {
				t.Fatalf("seed %d: value %g, no box is allowed", seed, value[0])
			}
			continue
		}
		if value[0] != θ.Score(0, y) || math.Abs(value[0]-all[0]) > tolerance {
			t.Fatalf("seed %d: value %g of %v, which scores %g; the best score is %g", seed, value[0], y, θ.Score(0, y), all[0])
		}
		var best oracles.KBest
		k := 1 + r.IntN(60)
		o.TopK(θ, k, &best)
		if want := min(k, len(all)); best.Count[0] != want {
			t.Fatalf("seed %d: %d boxes, want %d", seed, best.Count[0], want)
		}
		seen := map[[4]int32]bool{}
		for i := range best.Count[0] {
			y := best.Output(i, 0, 4)
			seen[[4]int32(y)] = true
			if got := best.Score[i]; got != θ.Score(0, y) || math.Abs(got-all[i]) > tolerance || i > 0 && got > best.Score[i-1] {
				t.Fatalf("seed %d: score %d is %g, want %g", seed, i, got, all[i])
			}
		}
		if len(seen) != best.Count[0] {
			t.Fatalf("seed %d: %d boxes, of which %d differ", seed, best.Count[0], len(seen))
		}
	}
}

// A search that is cut short finds some box and bounds the best score, and says whether the box is proven best. A limit
// that is not reached changes nothing.
func TestLimit(t *testing.T) {
	short, proven, below := 0, 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		θ := drawPotentials(r)
		all := allScores(θ)
		o := New()
		o.Limit = 1 + r.IntN(12)
		k := 1 + r.IntN(5)
		y, value := make([]int32, 4), make([]float64, 1)
		var best oracles.KBest
		o.TopK(θ, k, &best)
		listUpper, listExact := o.Bound(0)
		o.Max(θ, y, value)
		upper, exact := o.Bound(0)
		if len(all) == 0 {
			if !math.IsInf(value[0], -1) || !exact || best.Count[0] != 0 {
				t.Fatalf("seed %d: value %g and %d boxes, no box is allowed", seed, value[0], best.Count[0])
			}
			continue
		}
		tolerance := 1e-9 * (1 + math.Abs(all[0]) + math.Abs(all[len(all)-1]))
		if upper != value[0] || value[0] < all[0] && !exact || math.Abs(value[0]-all[0]) > tolerance && exact {
			t.Fatalf("seed %d: value %g, bound %g, exact %v; the best score is %g", seed, value[0], upper, exact, all[0])
		}
		score := θ.Score(0, y)
		if score > value[0] || math.IsInf(score, -1) || exact && score != value[0] {
			t.Fatalf("seed %d: value %g, the box scores %g", seed, value[0], score)
		}
		if n := best.Count[0]; n == 0 || listExact && n != min(k, len(all)) || listUpper < all[0]-tolerance ||
			listUpper < all[0] && !listExact {
			t.Fatalf("seed %d: %d of %d boxes, bound %g, exact %v; the best score is %g", seed, n, k,
				listUpper, listExact, all[0])
		}
		for i := range best.Count[0] {
			if s := best.Score[i]; s != θ.Score(0, best.Output(i, 0, 4)) || listExact && math.Abs(s-all[i]) > tolerance {
				t.Fatalf("seed %d: score %d is %g", seed, i, s)
			}
		}
		if exact {
			proven++
		} else {
			short++
			if score < all[0]-tolerance {
				below++
			}
		}

		var a oracles.Answer
		for _, s := range []oracles.Smoothing{{}, {Kind: oracles.L2, Mu: 0.5, K: k}} {
			s.Answer(o, θ, &a, true)
			if _, exact := o.Bound(0); a.Exact[0] && !exact || a.Max[0] < all[0]-tolerance {
				t.Fatalf("seed %d, %v: exact %v, max %g; the best score is %g", seed, s.Kind, a.Exact[0], a.Max[0], all[0])
			}
		}
	}
	if short < 50 || proven < 50 || below < 20 {
		t.Errorf("%d searches were cut short, %d not, and %d found another box than the best: the test shows little", short,
			proven, below)
	}
	if o := New(); o.Relaxed() != "" {
		t.Errorf("without a limit: %q", o.Relaxed())
	}
	if o := (&Oracle{Limit: 7}); o.Relaxed() == "" {
		t.Error("an oracle with a limit does not say so")
	}
}

// A search does not allocate once its memory has grown.
func TestAllocations(t *testing.T) {
	θ := drawMaps(5, 30, 40, 1, 1, true)
	o := New()
	y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
	var best oracles.KBest
	if n := testing.AllocsPerRun(3, func() { o.Max(θ, y, value); o.TopK(θ, 10, &best) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
