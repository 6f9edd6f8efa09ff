package endtoend

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Trees with siblings are learned and certified, a run continues them, and what goes with first-order trees only is refused by name.
func TestSiblings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, run := filepath.Join(dir, "trees"), filepath.Join(dir, "run")
	dsp(t, "data", "trees", "--examples", "40,10,20", "--out", data).ok()
	train, test := filepath.Join(data, "train.conllu"), filepath.Join(data, "test.conllu")
	var r struct {
		Gap  *float64 `json:"relative_gap"`
		Test struct{ UAS float64 }
	}
	dsp(t, "train", "--task", "parse", "--order", "2", "--train", train, "--test", test, "--passes", "5", "--quiet", "--json", "--out", run).ok().json(&r)
	if r.Gap == nil || !(*r.Gap >= 0 && *r.Gap < 0.5) || r.Test.UAS < 0.6 {
		t.Errorf("got %+v", r)
	}
	var m struct {
		UAS        float64
		Likelihood struct{ NLL float64 }
	}
	dsp(t, "eval", "--model", run, "--data", test, "--nll", "--json").ok().json(&m)
	if m.UAS != r.Test.UAS || !(m.Likelihood.NLL > 0) {
		t.Errorf("evaluated %+v, in training %+v", m, r)
	}
	if o := dsp(t, "predict", "--model", run, "--input", test, "--decode", "risk", "--entropy").ok(); strings.Count(o.stdout, "# entropy") != 20 {
		t.Errorf("predicted\n%s", o.stdout)
	}
	var p struct {
		Heads []int
		NBest []struct {
			Heads []int
			Score float64
		}
		Score float64
	}
	first, _, _ := strings.Cut(dsp(t, "predict", "--nbest", "3", "--json", "--model", run, "--input", test).ok().stdout, "\n")
	if err := json.Unmarshal([]byte(first), &p); err != nil || len(p.NBest) != 3 || p.NBest[0].Score != p.Score || p.NBest[1].Score > p.Score || !slices.Equal(p.NBest[0].Heads, p.Heads) {
		t.Errorf("%v: n best %s", err, first)
	}
	dsp(t, "train", "--init", run, "--train", test, "--passes", "1", "--quiet", "--out", filepath.Join(dir, "next")).ok()
	for flags, want := range map[string]string{
		"train --task parse --order 2 --tree nonprojective": "NP-hard",
		"train --task parse --order 2 --net biaffine":       "for --net linear",
		"train --task parse --order 2 --device cuda":        "use --device cpu",
	} {
		args := strings.Fields(flags)
		if args[0] == "train" {
			args = append(args, "--train", train, "--quiet", "--out", filepath.Join(dir, "x"))
		}
		if o := dsp(t, args...); o.code != 2 || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit %d, %s, expected %q", flags, o.code, o.stderr, want)
		}
	}
}
