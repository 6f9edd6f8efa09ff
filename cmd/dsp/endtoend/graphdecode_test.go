package endtoend

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/arrays/arraystest"
)

// Drawn graphs train alone, with labels on their own and bounds to compare with; a model of them reads the files of
// data graphs.
func TestGraphDrawn(t *testing.T) {
	t.Parallel()
	dir, run := filepath.Join(t.TempDir(), "graphs"), filepath.Join(t.TempDir(), "run")
	dsp(t, "data", "graphs", "--out", dir, "--examples", "30,5,20", "--classes", "3", "--difficulty", "0.8").ok()
	o := dsp(t, "train", "--task", "graph", "--examples", "30,5,20", "--classes", "3", "--difficulty", "0.8", "--passes", "10", "--quiet", "--out", run).ok()
	for _, part := range []string{"casimir, exact", "no edges", "casimir, relaxed"} {
		if !strings.Contains(o.stdout, part) {
			t.Errorf("no %q in\n%s", part, o.stdout)
		}
	}
	var drawn, read struct{ Accuracy float64 }
	dsp(t, "eval", "--model", run, "--data", "builtin", "--json").ok().json(&drawn)
	dsp(t, "eval", "--model", run, "--data", filepath.Join(dir, "test.npz"), "--json").ok().json(&read)
	if drawn != read || read.Accuracy < 0.8 {
		t.Errorf("accuracy %v drawn, %v read", drawn, read)
	}
	trees := dsp(t, "train", "--task", "graph", "--shape", "tree", "--examples", "5,1,1", "--passes", "1", "--out", filepath.Join(t.TempDir(), "run")).ok()
	if want := "not compared with relaxed: the graphs have no loops"; !strings.Contains(trees.stderr, want) {
		t.Errorf("no %q in %s", want, trees.stderr)
	}
}

// Labels on their own are exact, also beside a run with bounds.
func TestContrastOfBounds(t *testing.T) {
	t.Parallel()
	o := dsp(t, "train", "--task", "graph", "--oracle", "relaxed", "--examples", "5,2,2", "--passes", "2", "--quiet", "--out", filepath.Join(t.TempDir(), "run")).ok()
	for line := range strings.Lines(o.stdout) {
		if strings.HasPrefix(line, "bcpfw, ") && strings.Contains(line, "%, relaxed") != strings.HasPrefix(line, "bcpfw, relaxed") {
			t.Errorf("only the run's own gap is relaxed: %s", line)
		}
	}
	if !strings.Contains(o.stdout, "bcpfw, no edges") {
		t.Error(o.stdout)
	}
}

// What is compared is left out, and the log says why, where a table would not fit.
func TestContrastThatDoesNotFit(t *testing.T) {
	t.Parallel()
	o := dsp(t, "train", "--task", "segment", "--classes", "4", "--examples", "2,1,1", "--passes", "1", "--out", filepath.Join(t.TempDir(), "run")).ok()
	if !strings.Contains(o.stderr, "not compared with exact: the junction tree of") || !strings.Contains(o.stderr, "--max-table") || strings.Contains(o.stdout, ", exact") {
		t.Errorf("%s\n%s", o.stderr, o.stdout)
	}
}

// Alpha-expansion says that it is approximate, with score, bound and gap, and is refused by name where it is not for.
func TestExpansion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	four, two, own := filepath.Join(dir, "four"), filepath.Join(dir, "two"), filepath.Join(dir, "own")
	dsp(t, "train", "--task", "segment", "--classes", "4", "--cell-pixels", "16", "--examples", "6,1,3", "--passes", "5", "--baselines", "off", "--quiet", "--out", four).ok()
	o := dsp(t, "eval", "--model", four, "--data", "builtin", "--decode", "expansion").ok()
	for _, part := range []string{"alpha-expansion finds labels that may not be the best", "score=", "bound=", "gap=", " of 3 outputs are proven"} {
		if !strings.Contains(o.stderr, part) {
			t.Errorf("no %q in %s", part, o.stderr)
		}
	}
	var m, best struct{ Score, Bound, Gap *float64 }
	dsp(t, "eval", "--model", four, "--data", "builtin", "--decode", "expansion", "--json").ok().json(&m)
	if m.Score == nil || m.Bound == nil || m.Gap == nil || *m.Gap < 0 || math.Abs(*m.Bound-*m.Score-*m.Gap) > 1e-6 {
		t.Fatalf("got %+v", m)
	}
	type line struct {
		Labels []string
		Score  float64
		Bound  *float64
	}
	score := 0.0
	for _, l := range jsonLines[line](t, dsp(t, "predict", "--model", four, "--input", "builtin", "--decode", "expansion", "--json").ok().stdout) {
		score += l.Score
		if l.Bound != nil && *l.Bound < l.Score {
			t.Errorf("a bound of %v below the score %v", *l.Bound, l.Score)
		}
	}
	if math.Abs(score-*m.Score) > 1e-6*math.Abs(score) {
		t.Errorf("predict has score %v, eval %v", score, *m.Score)
	}
	dsp(t, "eval", "--model", four, "--data", "builtin", "--json").ok().json(&best)
	if best.Bound != nil && *best.Bound < score-1e-6 {
		t.Errorf("the bound %v of the relaxation is below a score of %v", *best.Bound, score)
	}
	dsp(t, "train", "--task", "segment", "--cell-pixels", "16", "--examples", "2,1,1", "--passes", "1", "--baselines", "off", "--quiet", "--out", two).ok()
	dsp(t, "predict", "--model", two, "--input", "builtin", "--decode", "expansion").refused(exitBadInput, "--decode expansion is for more than two labels", "--oracle cut")
	dsp(t, "train", "--task", "graph", "--classes", "3", "--examples", "3,1,1", "--passes", "1", "--baselines", "off", "--quiet", "--out", own).ok()
	dsp(t, "predict", "--model", own, "--input", "builtin", "--decode", "expansion").refused(exitBadInput, "--decode expansion", "--edges potts", "--edges own")
	dsp(t, "eval", "--model", own, "--data", "builtin", "--decode", "swap").refused(exitBadInput, "--decode", "swap", "expansion")
}

// Labels that cuts find have margins, as columns, JSON, npz and pictures: at least 0 for the predicted label, at most 0
// for the other.
func TestCutMargins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run, train := filepath.Join(dir, "run"), drawnGraphs(t, "train.npz", 12, 4, 1)
	dsp(t, "train", "--task", "graph", "--train", train, "--edges", "potts", "--oracle", "cut", "--passes", "20", "--quiet", "--out", run).ok()
	type line struct {
		Labels  []string
		Label   []*float64   `json:"label_margins"`
		Margins [][]*float64 `json:"margins"`
		Bound   json.RawMessage
	}
	predict := func(args ...string) outcome {
		return dsp(t, append([]string{"predict", "--model", run, "--input", train}, args...)...).ok()
	}
	lines := jsonLines[line](t, predict("--json", "--confidence", "--marginals").stdout)
	if len(lines) != 12 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, l := range lines {
		for v, name := range l.Labels {
			own, other := l.Margins[v][0], l.Margins[v][1]
			if name == "wet" {
				own, other = other, own
			}
			if *own != *l.Label[v] || *own < 0 || *other != -*own {
				t.Fatalf("variable %d is %s: margins %v, %v", v, name, *own, *other)
			}
		}
	}
	if first := strings.Fields(strings.SplitN(predict("--confidence").stdout, "\n", 2)[0]); len(first) != 4 || !strings.Contains(first[2], ".") {
		t.Errorf("columns %q", first)
	}
	to := filepath.Join(dir, "labels.npz")
	predict("--to", to, "--marginals")
	if margins, _ := arraystest.Read[float32](t, to, "margins"); len(margins) != 12*16*2 {
		t.Errorf("%d margins", len(margins))
	}
	dsp(t, "predict", "--model", run, "--input", train, "--to", to, "--confidence").refused(exitBadInput, "--confidence has no effect", "--marginals")
	dsp(t, "predict", "--model", run, "--input", train, "--decode", "risk").refused(exitBadInput, "Potts graph with cuts", "sums")
}

// Masks come with pictures of confidence.
func TestConfidencePictures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run, to := filepath.Join(dir, "run"), filepath.Join(dir, "masks")
	dsp(t, "train", "--task", "segment", "--cell-pixels", "16", "--examples", "4,1,2", "--passes", "3", "--baselines", "off", "--quiet", "--out", run).ok()
	dsp(t, "predict", "--model", run, "--input", "builtin", "--to", to, "--confidence").ok()
	for _, name := range []string{"00001.png", "overlays/00002.png", "confidence/00002.png"} {
		if _, err := os.Stat(filepath.Join(to, name)); err != nil {
			t.Error(err)
		}
	}
	sheet := filepath.Join(dir, "sheet.svg")
	dsp(t, "predict", "--model", run, "--input", "builtin", "--picture", sheet).ok()
	if text, err := os.ReadFile(sheet); err != nil || !strings.Contains(string(text), "confidence") {
		t.Errorf("%v: no confidence", err)
	}
	dsp(t, "predict", "--model", run, "--input", "builtin", "--to", to, "--marginals").refused(exitBadInput, "--marginals has no effect", "--confidence")
}

// A bound follows the score of labels from truncated edges; weights of labels and variables count in the loss.
func TestTruncatedBoundAndWeights(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run, graphs := filepath.Join(dir, "run"), filepath.Join(dir, "graphs")
	dsp(t, "data", "graphs", "--out", graphs, "--examples", "20,1,10", "--shape", "grid").ok()
	train := filepath.Join(graphs, "train.npz")
	dsp(t, "train", "--task", "graph", "--train", train, "--oracle", "cut", "--passes", "10", "--quiet", "--out", run).ok()
	bounds := 0
	for _, l := range jsonLines[struct{ Score, Bound float64 }](t, dsp(t, "predict", "--model", run, "--input", train, "--json").ok().stdout) {
		if l.Bound != 0 {
			bounds++
			if l.Bound < l.Score {
				t.Errorf("bound %v below the score %v", l.Bound, l.Score)
			}
		}
	}
	if bounds == 0 {
		t.Error("no prediction has a bound, though edges that tell unequal labels are truncated")
	}
	share := func(args ...string) float64 {
		out := filepath.Join(t.TempDir(), "run")
		dsp(t, append([]string{"train", "--quiet", "--baselines", "off", "--passes", "5", "--out", out}, args...)...).ok()
		var m struct {
			Types map[string]struct{ Predicted, Gold float64 }
		}
		dsp(t, "eval", "--model", out, "--data", "builtin", "--json").ok().json(&m)
		for _, name := range []string{"1", "stone"} {
			if c, ok := m.Types[name]; ok {
				return c.Predicted / c.Gold
			}
		}
		return 0
	}
	for _, args := range [][]string{
		{"--task", "graph", "--examples", "30,5,20", "--difficulty", "2", "--edges", "none"}, {"--task", "segment", "--cell-pixels", "16", "--examples", "6,1,4", "--edges", "none"},
	} {
		label := map[string]string{"graph": "1", "segment": "stone"}[args[1]]
		plain, heavy := share(args...), share(append(args, "--label-weights", label+"=5")...)
		if heavy < plain*1.1 {
			t.Errorf("%v: label %s is predicted %.2f times as often as it occurs, with weight 5 %.2f times", args, label, plain, heavy)
		}
	}
}

// Cells larger than the images, and folders without images, are refused with advice.
func TestSegmentAdvice(t *testing.T) {
	t.Parallel()
	data, empty := drawnTextures(t), t.TempDir()
	in := func(kind string) string { return filepath.Join(data, "train", kind) }
	dsp(t, "train", "--task", "segment", "--train", in("images"), "--masks", in("masks"), "--cell-pixels", "500").refused(exitBadInput, "no region has a neighbour", "lower --cell-pixels (now 500 pixels)")
	dsp(t, "train", "--task", "segment", "--train", empty, "--masks", in("masks")).refused(exitBadInput, empty, "no images, expected files ending in .png")
}
