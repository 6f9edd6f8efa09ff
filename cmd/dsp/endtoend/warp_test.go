package endtoend

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Links of letters with sounds are learned in order and certified, and every question about distributions has an
// answer.
func TestWarp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, run := filepath.Join(dir, "spellings"), filepath.Join(dir, "run")
	dsp(t, "data", "spellings", "--examples", "150,40,40", "--out", data).ok()
	test := filepath.Join(data, "test.pairs")
	var trained struct {
		Gap  float64 `json:"relative_gap"`
		Test linksJSON
	}
	dsp(t, "train", "--task", "warp", "--train", filepath.Join(data, "train.pairs"), "--test", test, "--gap", "0.02", "--quiet", "--json", "--out", run).ok().json(&trained)
	if trained.Test.F1 < 0.95 || !(trained.Gap >= 0 && trained.Gap <= 0.02) {
		t.Errorf("got %+v", trained)
	}
	type output struct {
		Links       [][2]int
		Probability float64
	}
	var p struct {
		output
		NBest         []output
		Samples       [][][2]int
		Entropy       float64
		Probabilities []float64 `json:"link_probabilities"`
		Marginals     [][]float64
	}
	line := filepath.Join(dir, "line.pairs")
	text, err := os.ReadFile(test)
	if err != nil {
		t.Fatal(err)
	}
	pair, _, _ := strings.Cut(string(text), "\n")
	words := strings.SplitN(pair, " ||| ", 3)
	if err := os.WriteFile(line, []byte(words[0]+" ||| "+words[1]+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	dsp(t, "predict", "--model", run, "--input", line, "--json", "--nbest", "3", "--samples", "4", "--entropy", "--confidence", "--marginals").ok().json(&p)
	n, m := len(strings.Fields(words[0])), len(strings.Fields(words[1]))
	for _, links := range append(p.Samples, p.Links, p.NBest[2].Links) {
		if links[0] != [2]int{0, 0} || links[len(links)-1] != [2]int{n - 1, m - 1} {
			t.Errorf("links %v do not lead from the first to the last of %d by %d items", links, n, m)
		}
		for k := 1; k < len(links); k++ {
			if i, j := links[k][0]-links[k-1][0], links[k][1]-links[k-1][1]; i < 0 || j < 0 || i > 1 || j > 1 || i+j == 0 {
				t.Errorf("a step from %v to %v", links[k-1], links[k])
			}
		}
	}
	if len(p.NBest) != 3 || len(p.Samples) != 4 || !slices.Equal(p.NBest[0].Links, p.Links) || p.NBest[1].Probability > p.Probability || !(p.Entropy > 0) {
		t.Errorf("predicted %+v", p)
	}
	for k, l := range p.Links {
		if p.Probabilities[k] != p.Marginals[l[0]][l[1]] || p.Probabilities[k] < p.Probability-1e-6 {
			t.Errorf("link %v has probability %g, among all %g; the best output %g", l, p.Probabilities[k], p.Marginals[l[0]][l[1]], p.Probability)
		}
	}
	var measured struct{ Likelihood struct{ NLL float64 } }
	dsp(t, "eval", "--model", run, "--data", test, "--nll", "--json").ok().json(&measured)
	if nll := measured.Likelihood.NLL; !(nll > 0 && nll < 10) {
		t.Errorf("the gold links have %g nats", nll)
	}
	if o := dsp(t, "predict", "--model", run, "--input", line, "--force"); o.code != 2 || !strings.Contains(o.stderr, "links of --task warp are predicted whole: scores of pairs") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}
