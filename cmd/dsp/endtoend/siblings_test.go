package endtoend

import (
	"path/filepath"
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
	dsp(t, "train", "--init", run, "--train", test, "--passes", "1", "--quiet", "--out", filepath.Join(dir, "next")).ok()
	for flags, want := range map[string]string{
		"train --task parse --order 2 --tree nonprojective":                      "NP-hard",
		"train --task parse --order 2 --net biaffine":                            "for --net linear",
		"train --task parse --order 2 --loss hinge --smoothing l2 --method svrg": "which the oracle of a projective tree with siblings does not find",
		"train --task parse --order 2 --device cuda":                             "use --device cpu",
		"predict --nbest 2 --model " + run + " --input " + test:                  "the oracle of a projective tree with siblings does not find the n best outputs",
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
