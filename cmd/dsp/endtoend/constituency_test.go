package endtoend

import (
	"encoding/json"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A parser of constituents is trained with a certificate on drawn trees, finds most brackets of sentences that it has
// not seen, and goes where other models go.
func TestConstituency(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dsp(t, "data", "constituents", "--out", dir, "--examples", "120,40,40", "--seed", "3").ok()
	run, test := filepath.Join(dir, "run"), filepath.Join(dir, "test.penn")
	var r struct {
		Net             string
		Gap, Objective  *float64
		Dev             map[string]any
		RelativeGap     float64 `json:"relative_gap"`
		Precision       float64
		F1, Complete    float64
		Gold, Predicted int
	}
	dsp(t, "train", "--task", "constituency", "--train", filepath.Join(dir, "train.penn"), "--dev", filepath.Join(dir, "dev.penn"), "--gap", "0.02", "--out", run, "--quiet", "--json").ok().json(&r)
	if r.Net != "linear" || r.Gap == nil || r.RelativeGap > 0.02 || r.Dev["f1"] == nil {
		t.Errorf("got %+v", r)
	}
	dsp(t, "eval", "--model", run, "--data", test, "--errors", "2", "--intervals", "--json").ok().json(&r)
	if !(r.F1 > 0.6) || r.Complete > r.F1 || r.Gold == 0 {
		t.Errorf("got %+v", r)
	}

	// Trees are written with the words of the file, one per line, and are read again; the list begins with the best
	// one, and descends.
	gold, err := os.ReadFile(test)
	if err != nil {
		t.Fatal(err)
	}
	trees := dsp(t, "predict", "--model", run, "--input", test).ok().stdout
	words := func(text string) (all []string) {
		for _, f := range strings.Fields(text) {
			if strings.HasSuffix(f, ")") {
				all = append(all, strings.TrimRight(f, ")"))
			}
		}
		return all
	}
	if strings.Join(words(trees), " ") != strings.Join(words(string(gold)), " ") || strings.Count(trees, "\n") != 40 {
		t.Errorf("other words:\n%.400s", trees)
	}
	again := dsp(t, "predict", "--model", run, "--input", write(t, "again.penn", trees)).ok().stdout
	if again != trees {
		t.Error("brackets that are given change what is predicted")
	}
	first, _, _ := strings.Cut(string(gold), "\n")
	var p struct {
		Tree        string
		Probability float64
		NBest       []struct {
			Tree, ID    string
			Probability float64
		}
		Constituents []struct {
			Label       string
			First, Last int
			Probability float64
		}
	}
	dspWith(t, first+"\n", "predict", "--model", run, "--format", "brackets", "--json", "--nbest", "5", "--confidence").ok().json(&p)
	if len(p.NBest) != 5 || p.NBest[0].Tree != p.Tree || p.NBest[4].Probability > p.NBest[0].Probability || !strings.HasPrefix(trees, p.Tree+"\n") {
		t.Errorf("%+v", p)
	}
	for _, c := range p.Constituents {
		if !(c.Probability > 0 && c.Probability <= 1) || c.Label == "" || c.First > c.Last {
			t.Errorf("%+v", c)
		}
	}
	if len(p.Constituents) != strings.Count(p.Tree, "(")-len(words(p.Tree))-strings.Count(p.Tree, "(TOP (S ") {
		t.Errorf("%d constituents in %s", len(p.Constituents), p.Tree)
	}
	if top := p.Constituents[0]; math.Abs(top.Probability-1) > 0.5 {
		t.Errorf("%+v", top)
	}

	// Brackets that are given are kept, others may be added; _ is any label; what is not among the labels is refused.
	flat := "(_ (DET the) (NP (NOUN dog) (VERB sees)) (DET a) (NOUN cat))\n"
	forced := dspWith(t, flat, "predict", "--model", run, "--format", "brackets", "--force", "--score", "--confidence").ok().stdout
	if !strings.Contains(forced, "(NP (NOUN dog) (VERB sees))") || !strings.Contains(forced, "# NP 2 3 1\n") {
		t.Errorf("%s is not kept: %s", flat, forced)
	}
	if all := dsp(t, "predict", "--model", run, "--input", test, "--force").ok().stdout; strings.Count(all, "(") < strings.Count(string(gold), "(") {
		t.Error("brackets of the input are missing")
	}
	dspWith(t, "(_ (XYZ (DET the)) (NOUN dog))\n", "predict", "--model", run, "--format", "brackets", "--force").refused(exitBadInput, ":1: no constituent with the label XYZ")

	s := serve(t, "--model", run)
	known := []string{strings.TrimSpace(flat), strings.TrimSpace(strings.Replace(flat, "(NP (NOUN dog) (VERB sees))", "(NOUN dog) (VERB sees)", 1))}
	s.same(run, write(t, "known.brackets", strings.Join(known, "\n")+"\n"), "?force&confidence", []string{asJSON(t, map[string]string{"tree": known[0]}), asJSON(t, map[string]string{"tree": known[1]})}, "--force", "--confidence")
	s.refuses(http.StatusBadRequest, "predict?force", `{"tree": "(_ (XYZ (DET the)) (NOUN dog))"}`, "no constituent with the label XYZ")
	s.refuses(http.StatusBadRequest, "predict?force", `{"words": ["the"], "pos": ["DET"]}`, `expected a "tree"`)
	s.refuses(http.StatusBadRequest, "predict", `{"tree": "(_ (DET the))"}`, "kept with ?force")
	status, got := s.post("predict", `{"words": ["the", "dog", "sees", "a", "cat"], "pos": ["DET", "NOUN", "VERB", "DET", "NOUN"]}`)
	var answer struct{ Tree string }
	if err := json.Unmarshal([]byte(got), &answer); err != nil || status != 200 || !strings.Contains(answer.Tree, "(DET the) (NOUN dog)") {
		t.Errorf("%d, %s", status, got)
	}
	if o := dsp(t, "info", run).ok(); !strings.Contains(o.stdout, "attributes of spans") {
		t.Error(o.stdout)
	}
	dsp(t, "export", "--model", run, "--data", test, "--to", filepath.Join(dir, "potentials.npz")).ok()
	dsp(t, "train", "--task", "constituency", "--train", filepath.Join(dir, "dev.penn"), "--init", run, "--passes", "2", "--out", filepath.Join(dir, "more"), "--quiet").ok()
	dsp(t, "train", "--task", "constituency", "--train", filepath.Join(dir, "dev.penn"), "--net", "biaffine", "--recurrent", "8", "--embed", "8,4", "--arc-units", "8", "--label-units", "8",
		"--passes", "2", "--out", filepath.Join(dir, "deep"), "--quiet").ok()
	dsp(t, "predict", "--model", filepath.Join(dir, "deep"), "--input", test).ok()
}

// What is no tree, or asks for what trees do not have, is refused with its place.
func TestConstituencyRefused(t *testing.T) {
	t.Parallel()
	dsp(t, "train", "--task", "constituency", "--train", write(t, "x.penn", "(S (NN a))\n(S (NN b)\n")).refused(exitBadInput, "x.penn:3", "the file ends inside of a tree")
	dsp(t, "train", "--task", "constituency", "--train", write(t, "y.conll", "a O\n")).refused(exitBadInput, "y.conll")
	dsp(t, "data", "pack", "--train", write(t, "z.penn", "(S (NN a))\n"), "--out", filepath.Join(t.TempDir(), "pack")).refused(exitBadInput, "trees of constituents")
	dsp(t, "train", "--task", "constituency", "--features", "ner").refused(exitBadInput, "--features ner")
	dsp(t, "train", "--task", "constituency", "--net", "embed").refused(exitBadInput)
}

// Messages call standard input by its name, of formats that are read as a whole, too.
func TestTreesOfStandardInput(t *testing.T) {
	t.Parallel()
	file := write(t, "trees.mrg", strings.Repeat("(TOP (S (NP (N dogs)) (VP (V bark))))\n(TOP (S (VP (V bark)) (NP (N dogs) (N cats))))\n", 3))
	dir := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--train", file, "--passes", "2", "--quiet", "--out", dir).ok()
	dspWith(t, "", "predict", "--model", dir).refused(exitBadInput, "standard input: no tokens")
	dspWith(t, "(TOP (S (NP (N dogs))", "predict", "--model", dir).refused(exitBadInput, "standard input:1: ")
}
