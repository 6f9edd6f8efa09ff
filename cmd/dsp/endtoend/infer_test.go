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

// inferred is what dsp infer --json prints.
type inferred struct {
	Oracle            string
	Value, Bound, Gap float64
	LogPartition      *float64 `json:"log_partition"`
	Exact             bool
	Assignment        []int
	Marginals         [][]float64
}

func TestInfer(t *testing.T) {
	t.Parallel()
	file := write(t, "loop.uai", frustrated)
	evidence := write(t, "loop.evid", "1 1 1")
	var a inferred
	dsp(t, "infer", file, "--json").ok().json(&a)
	if want := math.Log(2 * 3 * 3); !a.Exact || a.Gap != 0 || math.Abs(a.Value-want) > 1e-9 || a.Assignment[0] != 1 {
		t.Errorf("map: %+v, want value %v with variable 0 in state 1", a, want)
	}
	dsp(t, "infer", file, "--json", "--oracle", "relaxed").ok().json(&a)
	if a.Value > math.Log(18)+1e-9 || a.Bound < math.Log(18)-1e-9 || a.Exact {
		t.Errorf("relaxed: %+v, want a value below and a bound above %v", a, math.Log(18))
	}
	wide := dsp(t, "infer", file, "--json", "--oracle", "relaxed", "--gap", "9").ok()
	if wide.json(&a); a.Exact || a.Gap == 0 || !strings.Contains(wide.stderr, "need not be the best: --gap") {
		t.Errorf("a wide --gap proves nothing: %+v\n%s", a, wide.stderr)
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
	t.Parallel()
	file := write(t, "loop.uai", frustrated)
	dsp(t, "infer").refused(exitBadInput, "one file in UAI format", "found 0", "dsp infer --help")
	dsp(t, "infer", file, file).refused(exitBadInput, "found 2")
	dsp(t, "infer", "missing.uai").refused(exitBadInput, "missing.uai")
	dsp(t, "infer", write(t, "bad.uai", "MARKOV\n1\n0")).refused(exitBadInput, "bad.uai:3:")
	dsp(t, "infer", file, "--task", "max").refused(exitBadInput, "--task", "map")
	dsp(t, "infer", file, "--oracle", "exact").refused(exitBadInput, "--oracle", "junction")
	dsp(t, "infer", file, "--oracle", "tree").refused(exitBadInput, "loop.uai", "factor 3 closes a loop", "variables 2 and 0", "--oracle junction")
	dsp(t, "infer", file, "--oracle", "cut").refused(exitBadInput, "loop.uai", "odd number of factors that favour different states", "factor 2 of variables 1 and 2")
	dsp(t, "infer", file, "--oracle", "cut", "--task", "mar").refused(exitBadInput, "best assignment only", "#P-complete")
	dsp(t, "infer", file, "--bucket", "0").refused(exitBadInput, "--bucket 0")
	dsp(t, "infer", file, "--oracle", "junction", "--max-table", "7").refused(exitBadInput, "8 entries or more", "limit of 7 (--max-table)", "--oracle relaxed")
	dsp(t, "infer", file, "--evidence", write(t, "e", "1 7 0")).refused(exitBadInput, "e:1: variable 7")
	none := write(t, "none.uai", "MARKOV\n1\n2\n1\n1 0\n2\n0 0")
	dsp(t, "infer", none, "--task", "mar").refused(exitBadInput, "none.uai", "probability 0", "factor 0")
	dsp(t, "infer", none).refused(exitBadInput, "none.uai", "probability 0")
	rain := write(t, "rain.uai", "BAYES\n2\n2 2\n2\n1 0\n2 0 1\n2\n0.5 0.5\n4\n1 0 0.2 0.8")
	dry := write(t, "dry.evid", "2 0 0 1 1")
	for _, task := range []string{"map", "pr", "mar"} {
		dsp(t, "infer", rain, "--task", task, "--evidence", dry).refused(exitBadInput, "dry.evid", "probability 0", "factor 1", "rain.uai")
	}
	dsp(t, "infer", write(t, "short.uai", "MARKOV\n1\n2\n1\n1 0\n3 1 1 1")).refused(exitBadInput, "short.uai:6", "3 entries, expected 2")
	dsp(t, "infer", write(t, "negative.uai", "MARKOV\n1\n2\n1\n1 0\n2 1 -1")).refused(exitBadInput, "negative.uai:6", "at least 0")
	if o := dsp(t, "infer", none, "--task", "pr").ok(); o.stdout != "PR\n-inf\n" || !strings.Contains(o.stderr, "gap=0 ") {
		t.Errorf("pr of the empty distribution: %q\n%s", o.stdout, o.stderr)
	}
}

// auto says which oracle it takes; all exact oracles that fit a model agree, and bounds hold.
func TestInferOracles(t *testing.T) {
	t.Parallel()
	tree := write(t, "tree.uai", "BAYES\n3\n2 3 2\n3\n1 0\n2 0 1\n2 1 2\n2 0.4 0.6\n6 0.2 0.3 0.5 0.1 0.1 0.8\n6 0.5 0.5 0.9 0.1 0 1")
	smooth := write(t, "smooth.uai", strings.NewReplacer("3 1", "9 9", "1 3", "2 1").Replace(frustrated))
	loop := write(t, "loop.uai", frustrated)
	for _, test := range []struct {
		file, task, auto string
		fits             []string
	}{
		{tree, "map", "tree", []string{"junction", "relaxed"}}, {tree, "pr", "tree", []string{"junction", "relaxed"}}, {tree, "mar", "tree", []string{"junction", "relaxed"}},
		{smooth, "map", "cut", []string{"junction", "relaxed"}}, {loop, "map", "junction", []string{"relaxed"}}, {loop, "mar", "junction", []string{"relaxed"}},
	} {
		var want inferred
		o := dsp(t, "infer", test.file, "--json", "--task", test.task).ok()
		if o.json(&want); want.Oracle != test.auto || !want.Exact || want.Gap != 0 {
			t.Errorf("%s, %s: %+v, want %s", test.file, test.task, want, test.auto)
		}
		if !strings.Contains(o.stderr, "oracle="+test.auto) || test.auto != "tree" && !strings.Contains(o.stderr, "auto passes over tree: factor 3 closes a loop") {
			t.Errorf("%s, %s: the log does not say which oracle and why:\n%s", test.file, test.task, o.stderr)
		}
		for _, oracle := range test.fits {
			var a inferred
			dsp(t, "infer", test.file, "--json", "--task", test.task, "--oracle", oracle, "--bucket", "4").ok().json(&a)
			if !(a.Value <= want.Value+1e-9) || !(a.Bound >= want.Value-1e-9) || a.Exact && math.Abs(a.Value-want.Value) > 1e-9 || oracle == "junction" && !a.Exact {
				t.Errorf("%s, %s, %s: %+v, want %+v", test.file, test.task, oracle, a, want)
			}
			if (test.task == "map") != (a.LogPartition == nil) || a.LogPartition != nil && *a.LogPartition != a.Bound {
				t.Errorf("%s, %s, %s: log_partition %v, bound %v", test.file, test.task, oracle, a.LogPartition, a.Bound)
			}
			for v, p := range a.Marginals {
				if math.Abs(p[0]-want.Marginals[v][0]) > 0.2 || a.Exact && math.Abs(p[0]-want.Marginals[v][0]) > 1e-9 {
					t.Errorf("%s, %s, %s: variable %d has %v, want %v", test.file, test.task, oracle, v, p, want.Marginals[v])
				}
			}
		}
	}
	if o := dsp(t, "infer", loop, "--task", "pr", "--max-table", "7", "--bucket", "4").ok(); !strings.Contains(o.stderr, "upper bound") || !strings.Contains(o.stderr, "oracle=relaxed") {
		t.Errorf("the log does not warn of a bound:\n%s", o.stderr)
	}
}
