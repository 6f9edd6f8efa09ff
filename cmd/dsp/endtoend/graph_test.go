package endtoend

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/sbinet/npyio/npz"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/arrays/arraystest"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// drawnGraphs returns an npz file of grids with side×side variables and 2 labels that neighbours share more often than
// not. The features of variables tell the label with errors, and an edge has a type by its direction and a feature.
func drawnGraphs(t *testing.T, name string, n, side int, seed uint64) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	d := &structured.Dataset{Name: name, Offsets: []int{0}, Dim: 2, Alphabet: structured.NewAlphabet("dry", "wet")}
	edges := &structured.Table{Name: graphs.EdgeRows, Offsets: []int{0}, Dim: 1}
	for range n {
		g, y := &structured.Graph{}, make([]int32, side*side)
		cut := r.IntN(side + 1)
		for v := range y {
			if v%side >= cut {
				y[v] = 1
			}
			d.Features = append(d.Features, float32(2*y[v]-1)+1.5*float32(r.NormFloat64()), 1)
			for _, to := range []struct {
				u, kind int
				ok      bool
			}{{v + 1, 0, v%side+1 < side}, {v + side, 1, v+side < side*side}} {
				if to.ok {
					g.Ends, g.Types = append(g.Ends, [2]int32{int32(v), int32(to.u)}), append(g.Types, int32(to.kind))
					edges.Features = append(edges.Features, r.Float32())
				}
			}
		}
		d.Labels, d.Graphs = append(d.Labels, y...), append(d.Graphs, g)
		d.Offsets, edges.Offsets = append(d.Offsets, len(d.Labels)), append(edges.Offsets, len(edges.Features))
	}
	d.Tables = []*structured.Table{edges}
	path := filepath.Join(t.TempDir(), name)
	if err := host.WriteFile(path, func(w io.Writer) error { return arrays.WriteGraphs(w, d) }); err != nil {
		t.Fatal(err)
	}
	return path
}

// halfKnown returns an npz file of the graphs of another, each of 9 variables, in which only every second one's label
// is known, and is the opposite of what it was; and these opposites of all.
func halfKnown(t *testing.T, of string) (path string, labels []int32) {
	t.Helper()
	f, err := os.Open(of)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := arrays.Graphs{}.Read(f, of)
	if err != nil {
		t.Fatal(err)
	}
	for v := range d.Labels {
		if labels = append(labels, 1-d.Labels[v]); v%9%2 != 0 {
			d.Labels[v] = -1
		} else {
			d.Labels[v] = labels[v]
		}
	}
	path = filepath.Join(t.TempDir(), "half.npz")
	if err := host.WriteFile(path, func(w io.Writer) error { return arrays.WriteGraphs(w, d) }); err != nil {
		t.Fatal(err)
	}
	return path, labels
}

// Graphs with loops are learned exactly with every kind of edges, and edges help.
func TestGraphEdges(t *testing.T) {
	t.Parallel()
	train, test := drawnGraphs(t, "train.npz", 25, 4, 1), drawnGraphs(t, "test.npz", 25, 4, 2)
	var alone, best float64
	for _, args := range [][]string{
		{"--edges", "none"}, {"--edges", "own"}, {"--edges", "typed"}, {"--edges", "potts"}, {"--edges", "potts", "--oracle", "cut"},
		{"--edges", "typed", "--oracle", "relaxed", "--method", "bcfw"}, {"--edges", "typed", "--loss", "crf"},
		{"--net", "mlp", "--hidden", "4", "--passes", "5"}, {"--net", "mlp", "--hidden", "4", "--edges", "potts", "--submodular", "softplus", "--oracle", "cut", "--passes", "5"},
	} {
		var r struct {
			Oracle         string
			Objective, Gap *float64
			Test           map[string]any
		}
		all := append([]string{"train", "--task", "graph", "--train", train, "--test", test, "--quiet", "--json", "--out", filepath.Join(t.TempDir(), "run")}, args...)
		if args[0] == "--edges" {
			all = append(all, "--gap", "0.02")
		}
		dsp(t, all...).ok().json(&r)
		accuracy := r.Test["accuracy"].(float64)
		t.Logf("%v: accuracy %.3f", args, accuracy)
		if args[1] == "none" {
			alone = accuracy
		}
		best = max(best, accuracy)
		if accuracy < 0.7 || args[0] == "--edges" && (r.Gap == nil || *r.Gap < 0) {
			t.Errorf("%v: accuracy %v, gap %v", args, accuracy, r.Gap)
		}
	}
	if best < alone+0.05 {
		t.Errorf("accuracy %.3f without edges, %.3f with", alone, best)
	}
}

// Predictions come as JSON lines with marginals and n-best labelings, and as npz; eval agrees; export names the parts.
func TestGraphModel(t *testing.T) {
	t.Parallel()
	train, test, dir := drawnGraphs(t, "train.npz", 20, 3, 1), drawnGraphs(t, "test.npz", 10, 3, 2), filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--task", "graph", "--train", train, "--quiet", "--gap", "0.05", "--out", dir).ok()
	type line struct {
		Labels             []string
		Score, Probability float64
		Nbest              []struct{ Score float64 }
		Marginals          [][]float64
	}
	lines := jsonLines[line](t, dsp(t, "predict", "--model", dir, "--input", test, "--json", "--nbest", "3", "--marginals").ok().stdout)
	if len(lines) != 10 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, l := range lines {
		if len(l.Labels) != 9 || len(l.Marginals) != 9 || math.Abs(l.Marginals[4][0]+l.Marginals[4][1]-1) > 1e-5 || len(l.Nbest) != 3 || l.Nbest[0].Score != l.Score ||
			l.Nbest[1].Score > l.Score || !(l.Probability > 0 && l.Probability <= 1) {
			t.Errorf("got %+v", l)
		}
	}
	some, gold := halfKnown(t, test)
	for i, l := range jsonLines[line](t, dsp(t, "predict", "--model", dir, "--input", some, "--json", "--force", "--marginals").ok().stdout) {
		for v, name := range l.Labels {
			if want := gold[9*i+v]; v%2 == 0 && (name != []string{"dry", "wet"}[want] || l.Marginals[v][want] != 1) {
				t.Errorf("variable %d is %s with probability %v, and was given", v, name, l.Marginals[v])
			}
		}
	}
	to := filepath.Join(t.TempDir(), "labels.npz")
	dsp(t, "predict", "--model", dir, "--input", test, "--to", to, "--marginals").ok()
	labels, _ := arraystest.Read[int32](t, to, "labels")
	marginals, _ := arraystest.Read[float32](t, to, "marginals")
	names := []string{"dry", "wet"}
	for k, l := range labels {
		if names[l] != lines[k/9].Labels[k%9] {
			t.Fatalf("variable %d: %s in npz, %s in JSON", k, names[l], lines[k/9].Labels[k%9])
		}
	}
	if len(labels) != 90 || len(marginals) != 180 {
		t.Errorf("%d labels, %d marginals", len(labels), len(marginals))
	}
	var m map[string]any
	dsp(t, "eval", "--model", dir, "--data", test, "--json").ok().json(&m)
	if m["accuracy"].(float64) < 0.7 || m["class_iou"] == nil {
		t.Errorf("got %v", m)
	}
	potentials := filepath.Join(t.TempDir(), "p.npz")
	dsp(t, "export", "--model", dir, "--data", test, "--to", potentials).ok()
	g, err := npz.Open(potentials)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	typed := filepath.Join(t.TempDir(), "typed")
	dsp(t, "train", "--task", "graph", "--train", train, "--edges", "typed", "--quiet", "--gap", "0.1", "--out", typed).ok()
	of := filepath.Join(t.TempDir(), "typed.npz")
	dsp(t, "export", "--model", typed, "--data", test, "--to", of).ok()
	h, err := npz.Open(of)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if shape := h.Header("edge.npy").Descr.Shape; !slices.Equal(shape, []int{2, 2, 2}) {
		t.Errorf("typed edges have shape %v, expected types × labels × labels", shape)
	}
	for _, name := range []string{"node.npy", "edge.npy", "edge_offsets.npy", "offsets.npy"} {
		if g.Header(name) == nil {
			t.Errorf("no %s in %v", name, g.Keys())
		}
	}
}

// Graphs that are too wide for exact answers, in any of the data sets, are learned with bounds, and with what --oracle
// relaxed learns with. What is given stays.
func TestWideGraphsAreRelaxed(t *testing.T) {
	t.Parallel()
	narrow, wide := drawnGraphs(t, "narrow.npz", 6, 2, 1), drawnGraphs(t, "wide.npz", 2, 5, 2)
	train := func(data ...string) (oracle, method string, patience int, log string) {
		run := filepath.Join(t.TempDir(), "run")
		done := dsp(t, with(append([]string{"train", "--task", "graph", "--passes", "2", "--out", run}, data...))...).ok()
		var c struct {
			Oracle, Method string
			Patience       int
		}
		b, err := os.ReadFile(filepath.Join(run, "config.yaml"))
		if err == nil {
			err = yaml.Unmarshal(b, &c)
		}
		if err != nil {
			t.Fatal(err)
		}
		dsp(t, "train", "--resume", run, "--passes", "3").ok()
		dsp(t, "predict", "--model", run, "--input", wide, "--to", filepath.Join(run, "labels.npz")).ok()
		return c.Oracle, c.Method, c.Patience, done.stderr
	}
	for name, data := range map[string][]string{
		"training data":    {"--max-table", "200", "--train", wide, "--dev", narrow},
		"development data": {"--max-table", "200", "--train", narrow, "--dev", wide},
		"--oracle relaxed": {"--train", narrow, "--dev", narrow, "--oracle", "relaxed"},
	} {
		oracle, method, patience, log := train(data...)
		if oracle != "relaxed" || method != "bcpfw" || patience == 0 {
			t.Errorf("%s: oracle %s, method %s, patience %d", name, oracle, method, patience)
		}
		if said := strings.Contains(log, "so the oracle is relaxed"); said != (name != "--oracle relaxed") {
			t.Errorf("%s: the log is\n%s", name, log)
		}
	}
	if _, method, patience, _ := train("--max-table", "200", "--train", wide, "--dev", narrow, "--method", "bcfw", "--patience", "0"); method != "bcfw" || patience != 0 {
		t.Errorf("given settings became method %s, patience %d", method, patience)
	}
}

// Graphs that are too large for exact inference are refused with what they would need and what else there is, and so is
// other bad input.
func TestGraphRefusals(t *testing.T) {
	t.Parallel()
	train := drawnGraphs(t, "train.npz", 3, 5, 1)
	on := func(args ...string) []string {
		return append([]string{"train", "--task", "graph", "--train", train, "--out", filepath.Join(t.TempDir(), "run")}, args...)
	}
	dsp(t, on("--oracle", "exact", "--max-table", "50")...).refused(exitBadInput, "table entries", "--max-table 50", "--oracle cut", "--oracle relaxed")
	dsp(t, on("--oracle", "cut", "--loss", "crf")...).refused(exitBadInput, "crf", "cuts")
	dsp(t, on("--edges", "position")...).refused(exitBadInput, "--edges position")
	dsp(t, on("--net", "rnn")...).refused(exitBadInput, "--net rnn", "linear, mlp or")
	dsp(t, on("--cell-pixels", "4")...).refused(exitBadInput, "--cell-pixels", "segment")
	dsp(t, "train", "--task", "segment", "--cell-pixels", "4", "--superpixels", "20").refused(exitBadInput, "--cell-pixels 4", "--superpixels 20", "one of the two")
	dsp(t, on("--shape", "tree")...).refused(exitBadInput, "--shape tree has no effect")
	dsp(t, "train", "--task", "graph", "--classes", "11").refused(exitBadInput, "11 classes, expected 2 to 10")
	dsp(t, "data", "graphs", "--out", t.TempDir(), "--shape", "ring").refused(exitBadInput, "--shape", "ring")
	dsp(t, "train", "--task", "graph", "--train", write(t, "x.conll", "a\tX\n")).refused(exitBadInput, "npz")
	dsp(t, "train", "--edges", "potts", "--passes", "1").refused(exitBadInput, "--edges potts")
}

// drawnTextures returns a folder of few small scenes with masks.
func drawnTextures(t *testing.T) string {
	t.Helper()
	dir, err := drawTexturesOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var drawTexturesOnce = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(shared, "scenes")
	return dir, runProgram("data", "scenes", "--out", dir, "--examples", "10,3,4", "--pixels", "80,64")
})

// Images and masks become a model that writes masks and overlays; what it writes is what eval counts.
func TestSegmentFolders(t *testing.T) {
	t.Parallel()
	data, dir := drawnTextures(t), filepath.Join(t.TempDir(), "run")
	in := func(part, kind string) string { return filepath.Join(data, part, kind) }
	args := []string{"train", "--task", "segment", "--train", in("train", "images"), "--dev", in("dev", "images"), "--masks", in("train", "masks") + "," + in("dev", "masks"),
		"--label-names", filepath.Join(data, "labels.txt"), "--passes", "10", "--quiet", "--out", dir}
	dsp(t, args...).ok()
	var m map[string]any
	dsp(t, "eval", "--model", dir, "--data", in("test", "images"), "--masks", in("test", "masks"), "--json").ok().json(&m)
	if m["pixel_accuracy"].(float64) < 0.7 || m["miou"] == nil || m["types"].(map[string]any)["stone"] == nil {
		t.Errorf("got %v", m)
	}
	to := filepath.Join(t.TempDir(), "masks")
	dsp(t, "predict", "--model", dir, "--input", in("test", "images"), "--to", to).ok()
	for _, name := range []string{"00001.png", "00004.png", "overlays/00002.png"} {
		if _, err := os.Stat(filepath.Join(to, name)); err != nil {
			t.Error(err)
		}
	}
	// The predicted masks as gold ones: the model agrees with itself.
	dsp(t, "eval", "--model", dir, "--data", in("test", "images"), "--masks", to, "--json").ok().json(&m)
	if m["pixel_accuracy"].(float64) != 1 {
		t.Errorf("got %v", m)
	}
	// Masks that are given are kept, region by region: those that were predicted change nothing, others do.
	for _, c := range []struct {
		masks string
		same  bool
	}{{to, true}, {in("test", "masks"), false}} {
		kept := filepath.Join(t.TempDir(), "kept")
		dsp(t, "predict", "--model", dir, "--input", in("test", "images"), "--masks", c.masks, "--force", "--to", kept).ok()
		same := true
		for _, name := range []string{"00001.png", "00002.png", "00003.png", "00004.png"} {
			a, err := os.ReadFile(filepath.Join(kept, name))
			b, err2 := os.ReadFile(filepath.Join(to, name))
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			same = same && bytes.Equal(a, b)
		}
		if same != c.same {
			t.Errorf("%s kept: masks as without them: %v", c.masks, same)
		}
	}
	one := filepath.Join(t.TempDir(), "one")
	dsp(t, "predict", "--model", dir, "--input", filepath.Join(in("test", "images"), "00002.png"), "--masks", in("test", "masks"), "--to", one).ok()
	dsp(t, "predict", "--model", dir, "--input", filepath.Join(in("test", "images"), "00002.png"), "--to", one).ok()
	checkSameMask(t, filepath.Join(one, "00002.png"), filepath.Join(to, "00002.png"))

	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.CopyFS(bad, os.DirFS(in("test", "images"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bad, "00003.png"), []byte("\x89PNG\r\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	dsp(t, "predict", "--model", dir, "--input", bad, "--to", one).refused(exitBadInput, "00003.png")
	if o := dsp(t, "predict", "--model", dir, "--input", bad, "--to", one, "--bad", "skip").ok(); !strings.Contains(o.stderr, "00003.png") {
		t.Errorf("the image that was left out has no name: %s", o.stderr)
	}
	checkSameMask(t, filepath.Join(one, "00004.png"), filepath.Join(to, "00004.png"))

	unnamed := dsp(t, "train", "--task", "segment", "--train", in("train", "images"), "--masks", in("train", "masks"), "--passes", "1", "--out", filepath.Join(t.TempDir(), "run")).ok()
	if !strings.Contains(unnamed.stderr, "without --label-names") || !strings.Contains(unnamed.stderr, `labels=2 in_the_masks="0, 1" oracle=cut`) {
		t.Errorf("labels without names: %s", unnamed.stderr)
	}
	sheet := filepath.Join(t.TempDir(), "sheet.svg")
	dsp(t, "predict", "--model", dir, "--input", in("test", "images"), "--masks", in("test", "masks"), "--picture", sheet).ok()
	if text, err := os.ReadFile(sheet); err != nil || !strings.Contains(string(text), "prediction") || !strings.Contains(string(text), "truth") {
		t.Errorf("%v: no picture", err)
	}
}

// checkSameMask fails the test unless two files are the same.
func checkSameMask(t *testing.T, got, want string) {
	t.Helper()
	a, err := os.ReadFile(got)
	b, err2 := os.ReadFile(want)
	if err != nil || err2 != nil || !bytes.Equal(a, b) {
		t.Errorf("%s differs from %s: %v, %v", got, want, err, err2)
	}
}

// Drawn scenes run alone: the table compares with independent cells, and with superpixels and other oracles too.
func TestSegmentDrawn(t *testing.T) {
	t.Parallel()
	for _, args := range []struct{ flags, parts []string }{
		{nil, []string{"bcpfw, cut", "no edges", "relaxed", "test accuracy", "test IoU"}},
		{[]string{"--superpixels", "30", "--neighbours", "8", "--oracle", "exact"}, []string{"bcpfw, exact", "no edges", "relaxed"}},
		{[]string{"--classes", "4", "--cell-pixels", "20"}, []string{"bcpfw, relaxed", "no edges", "exact"}},
	} {
		o := dsp(t, append([]string{"train", "--task", "segment", "--examples", "4,1,2", "--passes", "3", "--quiet", "--out", filepath.Join(t.TempDir(), "run")}, args.flags...)...).ok()
		for _, part := range args.parts {
			if !strings.Contains(o.stdout, part) {
				t.Errorf("%v: no %q in\n%s", args, part, o.stdout)
			}
		}
	}
}

// Cuts that truncate edges say so on standard error, whether they evaluate, draw or predict; scores come without a
// probability.
func TestTruncatedEdges(t *testing.T) {
	t.Parallel()
	dir, sheet := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "sheet.svg")
	dsp(t, "train", "--task", "segment", "--examples", "2,1,2", "--passes", "1", "--quiet", "--out", dir).ok()
	for _, args := range [][]string{{"eval", "--data"}, {"predict", "--picture", sheet, "--input"}, {"predict", "--input"}, {"predict", "--truncate", "--input"}} {
		o := dsp(t, append(args, "builtin", "--model", dir)...).ok()
		if !strings.Contains(o.stderr, "others were truncated") {
			t.Errorf("%v: nothing about truncated edges in %q", args, o.stderr)
		}
	}
	if o := dsp(t, "predict", "--model", dir, "--input", "builtin", "--score").ok(); strings.Contains(o.stdout, "NaN") {
		t.Errorf("a probability that is NaN: %.100s", o.stdout)
	}
	dsp(t, "predict", "--model", dir, "--input", "builtin", "--truncate=false").refused(exitBadInput, "without --truncate=false such scores are lowered")
	chosen := []string{"predict", "--model", dir, "--input", "builtin", "--select", "1", "--by", "margin", "--json"}
	dsp(t, append(chosen, "--truncate=false")...).refused(exitBadInput, "--truncate=false")
	if o := dsp(t, chosen...).ok(); !strings.Contains(o.stdout, `"measure"`) || !strings.Contains(o.stderr, "others were truncated") {
		t.Errorf("--select: %s%s", o.stdout, o.stderr)
	}
	dsp(t, "eval", "--model", dir, "--data", "builtin", "--masks", "nowhere").refused(exitBadInput, "--masks nowhere has no effect")
	dsp(t, "predict", "--model", dir, "--input", "builtin", "--force").refused(exitBadInput, "builtin has no column of labels")
	dsp(t, "predict", "--model", dir, "--input", "builtin", "--picture", sheet, "--nbest", "2").refused(exitBadInput, "--nbest has no effect with --picture")
	dsp(t, "predict", "--model", dir, "--input", "builtin", "--to", t.TempDir(), "--score").refused(exitBadInput, "--score has no effect with --to")
	o := dsp(t, "predict", "--model", dir, "--input", "builtin", "--picture", "sheet.gif")
	o.refused(exitBadInput, "written as .png, .svg or .pdf")
	if strings.Count(o.stderr, "sheet.gif") != 1 {
		t.Errorf("the file is named more than once: %s", o.stderr)
	}
}

func TestSegmentRefusals(t *testing.T) {
	t.Parallel()
	data := drawnTextures(t)
	images, masks := filepath.Join(data, "train", "images"), filepath.Join(data, "train", "masks")
	dsp(t, "train", "--task", "segment", "--train", images).refused(exitBadInput, "images without masks", "--masks")
	dsp(t, "train", "--task", "segment", "--train", images, "--masks", filepath.Join(data, "dev", "masks")).refused(exitBadInput, "no mask, expected")
	dsp(t, "train", "--task", "segment", "--train", images, "--masks", masks, "--label-names", write(t, "names", "ground\n")).refused(exitBadInput, "label 1", "expected 0 to 0")
	dsp(t, "train", "--task", "segment", "--neighbours", "5").refused(exitBadInput, "5 neighbours, expected 4 or 8")
	dsp(t, "train", "--task", "segment", "--examples", "3,1,1", "--classes", "4", "--oracle", "cut").refused(exitBadInput, "4 labels", "cut")
	dsp(t, "train", "--task", "segment", "--examples", "3,1,1", "--oracle", "exact", "--max-table", "1000").refused(exitBadInput, "--max-table", "--oracle cut")
	dsp(t, "train", "--task", "segment", "--train", write(t, "x.npz", "PK")).refused(exitBadInput, "--format npz has no masks", "which reads images")
}
