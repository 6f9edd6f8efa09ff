package endtoend

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Three binary variables in a loop that disagrees with itself: relaxations cannot be tight, exact answers are known by hand.
const frustrated = `MARKOV
3
2 2 2
4
1 0
2 0 1
2 1 2
2 2 0
2
1 2
4
1 3 3 1
4
1 3 3 1
4
1 3 3 1
`

func TestInfer(t *testing.T) {
	file := write(t, "loop.uai", frustrated)
	evidence := write(t, "loop.evid", "1 1 1")
	var a struct {
		Value, Bound, Gap float64
		Exact             bool
		States            []int
		Marginals         [][]float64
	}
	dsp(t, "infer", file, "--json").ok().json(&a)
	if want := math.Log(2 * 3 * 3); !a.Exact || a.Gap != 0 || math.Abs(a.Value-want) > 1e-9 || a.States[0] != 1 {
		t.Errorf("map: %+v, want value %v with variable 0 in state 1", a, want)
	}
	dsp(t, "infer", file, "--json", "--oracle", "relaxed").ok().json(&a)
	if a.Value > math.Log(18)+1e-9 || a.Bound < math.Log(18)-1e-9 || a.Exact {
		t.Errorf("relaxed: %+v, want a value below and a bound above %v", a, math.Log(18))
	}
	z := 0.0 // by hand: each of 8 assignments
	for s := range 8 {
		z += weightOf(s&1, s>>1&1, s>>2)
	}
	dsp(t, "infer", file, "--json", "--task", "pr").ok().json(&a)
	if math.Abs(a.Value-math.Log(z)) > 1e-9 {
		t.Errorf("pr: %v, want %v", a.Value, math.Log(z))
	}
	dsp(t, "infer", file, "--json", "--task", "mar", "--evidence", evidence).ok().json(&a)
	high := weightOf(1, 1, 0) + weightOf(1, 1, 1)
	if want := high / (high + weightOf(0, 1, 0) + weightOf(0, 1, 1)); math.Abs(a.Marginals[0][1]-want) > 1e-9 || a.Marginals[1][1] != 1 {
		t.Errorf("mar: %v, want %v for variable 0 and 1 for variable 1", a.Marginals, want)
	}
	out := filepath.Join(t.TempDir(), "answer")
	dsp(t, "infer", file, "--evidence", evidence, "--out", out).ok()
	if text, err := os.ReadFile(out); err != nil || !strings.HasPrefix(string(text), "MAP\n3 ") || strings.Fields(string(text))[3] != "1" {
		t.Errorf("the answer is %q, %v", text, err)
	}
}

func weightOf(a, b, c int) float64 {
	w := 1 + float64(a)
	for _, differ := range []bool{a != b, b != c, c != a} {
		if differ {
			w *= 3
		}
	}
	return w
}

func TestInferRefuses(t *testing.T) {
	file := write(t, "loop.uai", frustrated)
	dsp(t, "infer").refused(exitBadInput, "one file in UAI format", "found 0", "dsp infer --help")
	dsp(t, "infer", file, file).refused(exitBadInput, "found 2")
	dsp(t, "infer", "missing.uai").refused(exitBadInput, "missing.uai")
	dsp(t, "infer", write(t, "bad.uai", "MARKOV\n1\n0")).refused(exitBadInput, "bad.uai:3:")
	dsp(t, "infer", file, "--task", "max").refused(exitBadInput, "--task", "map")
	dsp(t, "infer", file, "--task", "pr", "--oracle", "relaxed").refused(exitBadInput, "--oracle junction")
	dsp(t, "infer", file, "--oracle", "junction", "--max-table", "7").refused(exitBadInput, "width 2", "8 table entries", "--oracle relaxed")
	dsp(t, "infer", file, "--evidence", write(t, "e", "1 7 0")).refused(exitBadInput, "e:1: variable 7")
	none := write(t, "none.uai", "MARKOV\n1\n2\n1\n1 0\n2\n0 0")
	dsp(t, "infer", none, "--task", "mar").refused(exitBadInput, "probability 0")
	if o := dsp(t, "infer", none, "--task", "pr").ok(); o.stdout != "PR\n-inf\n" {
		t.Errorf("pr of the empty distribution: %q", o.stdout)
	}
}
