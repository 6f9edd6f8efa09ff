package endtoend

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Trees with siblings are learned and certified, a run continues them, and what goes with first-order trees only is
// refused by name.
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
	dsp(t, "train", "--init", run, "--order", "1", "--train", test, "--quiet", "--out", filepath.Join(dir, "other")).
		refused(exitBadInput, "the model predicts projective tree with siblings, this run projective tree")
	more := filepath.Join(dir, "more") // other sentences, of which some have siblings that the model does not know
	dsp(t, "data", "trees", "--examples", "80,10,10", "--seed", "3", "--out", more).ok()
	for _, hashed := range []string{"0", "14"} {
		begun, next := filepath.Join(dir, "begun"+hashed), filepath.Join(dir, "next"+hashed)
		dsp(t, "train", "--task", "parse", "--order", "2", "--hash-bits", hashed, "--train", train, "--passes", "2", "--quiet", "--out", begun).ok()
		said := dsp(t, "train", "--init", begun, "--train", filepath.Join(more, "train.conllu"), "--passes", "1", "--out", next).ok().stderr
		if !strings.Contains(said, `weights="arc_attributes label_attributes sibling_attributes"`) {
			t.Errorf("%s hash bits: %s", hashed, said)
		}
		if was, is := siblingsOf(t, begun), siblingsOf(t, next); is <= was {
			t.Errorf("%s hash bits: %d attributes of siblings, and %d when it is continued", hashed, was, is)
		}
	}
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

// siblingsOf returns how many attributes of siblings a model has.
func siblingsOf(t *testing.T, run string) int {
	t.Helper()
	var n int
	_, after, _ := strings.Cut(dsp(t, "info", run).ok().stdout, "sibling_attributes   [")
	if _, err := fmt.Sscan(after, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
