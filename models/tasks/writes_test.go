package tasks

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/arrays/arraystest"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/drawn/dependencies"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// labelled has sequences of 2, 0 and 1 positions, and graphs of as many nodes.
func labelled() *structured.Dataset {
	return &structured.Dataset{
		Name: "x", Offsets: []int{0, 2, 2, 3}, Alphabet: structured.NewAlphabet("a", "b"),
		Graphs: []*structured.Graph{{Ends: [][2]int32{{0, 1}}}, {}, {}},
	}
}

// predictedLabels predicts 1, 0 | | 1 with marginals and scores, and margins in their place if they are asked for.
func predictedLabels(t *testing.T, margins bool) PredictSome {
	return func(d *structured.Dataset, o predictions.Options, yield func(i int, p *predictions.Prediction) error) error {
		marginals := [][]float32{{0.25, 0.75, 0.5, 0.5}, nil, {0.125, 0.875}}
		for i, labels := range [][]int32{{1, 0}, nil, {1}} {
			p := prediction(labels, nil, nil)
			p.Score = float64(10 * i)
			if o.Probability {
				p.Probability = 1 / float64(2+i)
			}
			if o.Marginals || o.Confidence {
				if margins {
					p.Margins = marginals[i]
				} else {
					p.Marginals = marginals[i]
				}
			}
			if err := yield(i, p); err != nil {
				return err
			}
		}
		return nil
	}
}

// Labels of sequences are in an archive with where each begins, and with what else is asked for.
func TestWriteLabels(t *testing.T) {
	d := labelled()
	for name, o := range map[string]predictions.Options{"plain": {}, "marginals": {Marginals: true},
		"confidence": {Confidence: true}, "both": {Marginals: true, Confidence: true}} {
		path := filepath.Join(t.TempDir(), "x.NPZ")
		if err := writeLabels(nil, d, d.Alphabet, o, path, predictedLabels(t, false)); err != nil {
			t.Fatal(err)
		}
		want := []string{"label_names", "labels", "offsets", "probabilities", "scores"}
		if o.Marginals {
			want = append(want, "marginals")
		}
		if o.Confidence {
			want = append(want, "confidence")
		}
		if slices.Sort(want); !slices.Equal(arraystest.Names(t, path), want) {
			t.Errorf("%s: %v, want %v", name, arraystest.Names(t, path), want)
		}
		labels, _ := arraystest.Read[int32](t, path, "labels")
		offsets, _ := arraystest.Read[int64](t, path, "offsets")
		scores, _ := arraystest.Read[float64](t, path, "scores")
		probabilities, _ := arraystest.Read[float64](t, path, "probabilities")
		if !slices.Equal(labels, []int32{1, 0, 1}) || !slices.Equal(offsets, []int64{0, 2, 2, 3}) ||
			!slices.Equal(scores, []float64{0, 10, 20}) ||
			!slices.Equal(probabilities, []float64{0.5, 1. / 3, 0.25}) {
			t.Errorf("%s: %v, %v, %v, %v", name, labels, offsets, scores, probabilities)
		}
		if o.Marginals {
			if got, shape := arraystest.Read[float32](t, path, "marginals"); !slices.Equal(got,
				[]float32{0.25, 0.75, 0.5, 0.5, 0.125, 0.875}) || !slices.Equal(shape, []int{3, 2}) {
				t.Errorf("%s: %v of shape %v", name, got, shape)
			}
		}
		if o.Confidence {
			if got, _ := arraystest.Read[float32](t, path, "confidence"); !slices.Equal(got, []float32{0.75, 0.5, 0.875}) {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}

// Labels of graphs are in an archive with the sizes of the graphs, and with probabilities or margins.
func TestWriteGraphLabels(t *testing.T) {
	d := labelled()
	for name, o := range map[string]predictions.Options{"": {}, "marginals": {Marginals: true},
		"margins": {Marginals: true}} {
		path := filepath.Join(t.TempDir(), "x.npz")
		if err := writeGraphLabels(nil, d, d.Alphabet, o, path, predictedLabels(t, name == "margins")); err != nil {
			t.Fatal(err)
		}
		want := []string{"label_names", "labels", "sizes"}
		if name != "" {
			want = append(want, name)
		}
		if slices.Sort(want); !slices.Equal(arraystest.Names(t, path), want) {
			t.Errorf("%s: %v, want %v", name, arraystest.Names(t, path), want)
		}
		labels, _ := arraystest.Read[int32](t, path, "labels")
		sizes, shape := arraystest.Read[int64](t, path, "sizes")
		if !slices.Equal(labels, []int32{1, 0, 1}) || !slices.Equal(sizes, []int64{2, 1, 0, 0, 1, 0}) ||
			!slices.Equal(shape, []int{3, 2}) {
			t.Errorf("%s: %v, %v of shape %v", name, labels, sizes, shape)
		}
		if name != "" {
			if got, shape := arraystest.Read[float32](t, path, name); !slices.Equal(got,
				[]float32{0.25, 0.75, 0.5, 0.5, 0.125, 0.875}) ||
				!slices.Equal(shape, []int{3, 2}) {
				t.Errorf("%v of shape %v", got, shape)
			}
		}
	}
}

// Outputs go into files of one kind, and what such files do not hold is refused; a prediction that fails leaves none.
func TestWritesRefuse(t *testing.T) {
	d, failed := labelled(), errors.New("no prediction")
	fails := func(*structured.Dataset, predictions.Options, func(int, *predictions.Prediction) error) error {
		return failed
	}
	for _, x := range []struct {
		task, file string
		o          predictions.Options
		want       string
	}{
		{"tag", "x.png", predictions.Options{}, "labels are written as .npz"},
		{"ocr", "x", predictions.Options{}, "labels are written as .npz"},
		{"graph", "x.csv", predictions.Options{}, "labels of graphs are written as .npz"},
		{"graph", "x.npz", predictions.Options{Confidence: true}, "--confidence has no effect"},
		{"segment", "x.png", predictions.Options{}, "masks are written into a folder"},
		{"segment", "x.NPZ", predictions.Options{}, "masks are written into a folder"},
		{"segment", "x", predictions.Options{Marginals: true}, "--marginals has no effect"},
		{"tag", "x.npz", predictions.Options{}, ""}, {"graph", "x.npz", predictions.Options{}, ""},
	} {
		task, _ := Named(x.task)
		path := filepath.Join(t.TempDir(), x.file)
		err := task.Write(nil, d, d.Alphabet, x.o, path, fails)
		if bad := x.want != ""; bad && (!structured.IsBadInput(err) || !strings.Contains(err.Error(), x.want)) || !bad &&
			!errors.Is(err, failed) {
			t.Errorf("%s to %s: %v, want %q", x.task, x.file, err, x.want)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file is left", x.task)
		}
	}
}

// Drawn masks are written as predicted, with overlays and, if asked for, how sure each pixel is.
func TestWriteMasks(t *testing.T) {
	_, sets := drawnFor(t, segment, 3, []int{2, 1, 1})
	d := sets[1]
	predict := func(d *structured.Dataset, o predictions.Options, yield func(i int,
		p *predictions.Prediction) error) error {
		for i := range d.Len() {
			marginals := make([]float32, d.Length(i)*d.Alphabet.Len())
			for k := range marginals {
				marginals[k] = 1
			}
			if err := yield(i, prediction(d.Gold(i), marginals, nil)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, sure := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "masks")
		if err := segment.Write(nil, d, sets[0].Alphabet, predictions.Options{Confidence: sure}, dir, predict); err != nil {
			t.Fatal(err)
		}
		var files []string
		_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				name, _ := filepath.Rel(dir, path)
				files = append(files, filepath.ToSlash(filepath.Dir(name)))
			}
			return err
		})
		want := []string{".", "overlays"}
		if sure {
			want = append(want, "confidence")
		}
		slices.Sort(want)
		if slices.Sort(files); !slices.Equal(files, want) {
			t.Errorf("files in %v, want %v", files, want)
		}
	}
	path := filepath.Join(t.TempDir(), "x.svg")
	seen := 0
	err := segment.Picture(d, sets[0].Alphabet, path, func(some *structured.Dataset, o predictions.Options,
		yield func(int, *predictions.Prediction) error) error {
		if seen = some.Len(); !o.Confidence {
			t.Error("a picture needs no confidence")
		}
		return predict(some, o, yield)
	})
	if text, _ := os.ReadFile(path); err != nil || seen != 1 || !strings.Contains(string(text), "truth") ||
		!strings.Contains(string(text), "prediction") {
		t.Errorf("%d images in a picture of %d bytes: %v", seen, len(text), err)
	}
}

// A picture shows the first sentences that are neither too short nor too long, and there has to be one.
func TestTreePicture(t *testing.T) {
	o := dependencies.DefaultOptions()
	o.Train = 40
	b, err := o.Parts()[0].Treebank(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := b.Dataset()
	var fitting []int
	for i := range d.Len() {
		if n := d.Length(i); n >= 5 && n <= 16 {
			fitting = append(fitting, i)
		}
	}
	if len(fitting) <= picturedTrees {
		t.Fatal("too few sentences")
	}
	predict := func(some *structured.Dataset, _ predictions.Options, yield func(int,
		*predictions.Prediction) error) error {
		for i := range some.Len() {
			if whole := fitting[i]; !slices.Equal(some.Gold(i), d.Gold(whole)) {
				t.Errorf("sentence %d is not that of place %d", i, whole)
			}
			n := some.Length(i)
			if err := yield(i, prediction(some.Gold(i), make([]float32, n*n), nil)); err != nil {
				return err
			}
		}
		if some.Len() != picturedTrees {
			t.Errorf("%d sentences", some.Len())
		}
		return nil
	}
	path := filepath.Join(t.TempDir(), "x.svg")
	if err := drawTreePicture(d, d.Alphabet, path, predict); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "<svg") {
		t.Errorf("%d bytes are no picture: %v", len(text), err)
	}
	var others []int
	for i := range d.Len() {
		if !slices.Contains(fitting, i) {
			others = append(others, i)
		}
	}
	none := d.Subset(others)
	none.Name = "x"
	if err := drawTreePicture(none, d.Alphabet, path, predict); !structured.IsBadInput(err) ||
		err.Error() != "x: no sentence of 5 to 16 words to draw" {
		t.Error(err)
	}
}

// Variables without a label are left out of the training data, and the change says how many are left.
func TestWithoutUnknown(t *testing.T) {
	c := config.Default()
	of := func(labels ...int32) *structured.Dataset {
		return &structured.Dataset{
			Offsets: []int{0, len(labels)}, Labels: labels, Alphabet: structured.NewAlphabet("a"),
			Graphs: []*structured.Graph{{Ends: [][2]int32{{0, 1}}}},
			Tables: []*structured.Table{{Name: graphs.EdgeRows, Offsets: []int{0, 1}, Dim: 1, Features: []float32{5}}},
		}
	}
	known := of(0, 0, 0)
	if change, err := withoutUnknown(&c, known); change != nil || err != nil || known.Positions() != 3 {
		t.Errorf("%+v, %v", change, err)
	}
	some := of(0, -1, 0)
	change, err := withoutUnknown(&c, some)
	if err != nil || some.Positions() != 2 || change == nil ||
		!reflect.DeepEqual(change.Values, []any{"of", 3, "left", 2}) {
		t.Errorf("%+v, %v: %d left", change, err, some.Positions())
	}
}

// Pairs whose links are no path are counted, and only these: a path leaves out no sure link and has none that is not
// there.
func TestCountOffPath(t *testing.T) {
	sure, maybe := func(i, j int32) alignments.Link { return alignments.Link{Source: i, Target: j, Sure: true} },
		func(i, j int32) alignments.Link {
			return alignments.Link{Source: i, Target: j}
		}
	for _, x := range []struct {
		n, m  int
		links []alignments.Link
		off   bool
	}{
		{2, 2, []alignments.Link{sure(0, 0), sure(1, 1)}, false},
		{2, 2, []alignments.Link{sure(0, 0), maybe(0, 1), sure(1, 1)}, false},
		{2, 2, []alignments.Link{sure(0, 0), sure(0, 1), sure(1, 1)}, false},
		{2, 2, []alignments.Link{sure(0, 0), sure(0, 1), sure(1, 0), sure(1, 1)}, true},
		{2, 2, []alignments.Link{sure(0, 1), sure(1, 0)}, true}, {2, 2, []alignments.Link{sure(0, 0)}, true},
		{1, 1, []alignments.Link{maybe(0, 0)}, false}, {1, 1, []alignments.Link{}, true},
	} {
		corpus := &alignments.Corpus{Name: "x"}
		words := []string{"a", "b"}
		corpus.Add(words[:x.n], words[:x.m], x.links)
		corpus.Add(words[:1], words[:1], []alignments.Link{sure(0, 0)})
		change, err := countOffPath(nil, corpus.DatasetOf(alignments.Paths))
		if err != nil || (change != nil) != x.off || x.off && change.Values[1] != 1 {
			t.Errorf("%d by %d words with %v: %+v, %v", x.n, x.m, x.links, change, err)
		}
	}
}

// Masks of one label alone teach nothing, and labels without names are said with what follows from their number.
func TestSayMaskLabels(t *testing.T) {
	data := func(labels int, found ...int32) *structured.Dataset {
		d := &structured.Dataset{Name: "x", Offsets: []int{0, 2}, Alphabet: structured.NewAlphabet()}
		for k := range labels {
			d.Alphabet.Add(string(rune('0' + k)))
		}
		d.Tables = []*structured.Table{{Name: graphs.PixelRows, Attributes: &structured.Sparse{Index: found}}}
		return d
	}
	for _, x := range []struct {
		d                         *structured.Dataset
		void, values, names, init string
		message, bad              string // of the change, and of the error
		wantLabels                any
	}{
		{d: data(2, 0, 1), void: "255", values: masks.Auto,
			message: "without --label-names the labels are the values in the masks, from 0 to the largest", wantLabels: 2},
		{d: data(2, 0, 1), void: "255", values: "0,1", message: "without --label-names the labels are " +
			"the values in the masks", wantLabels: 2},
		{d: data(3, 0, 2), void: "255", values: masks.Auto, message: "; they are more than two, so the oracle is relaxed",
			wantLabels: 3},
		{d: data(2, 1, 1), void: "255", values: masks.Auto, bad: "all pixels have the label 1 or are void (--void 255)"},
		{d: data(2, 1), void: masks.Auto, values: masks.Auto, bad: "or are void (--void 255)"},
		{d: data(1, 0), void: "255", values: masks.Auto, names: "n", bad: "all pixels have the label 0"},
		{d: data(2, 0), void: "255", values: masks.Auto, names: "n"},
		{d: data(2, 0, 1), void: masks.None, values: "0,255", message: remarks.ObjectMasks},
		{d: data(2, 0), void: "255", values: masks.Auto, init: "m"},
	} {
		c := config.Default()
		c.Task, c.Train, c.Format, c.Masks, c.Edges, c.Loss = "segment", "x", formats.Images, "m", "potts", "hinge"
		c.Void, c.MaskValues, c.LabelNames, c.Init = x.void, x.values, x.names, x.init
		change, err := prepareRegions(&c, x.d)
		if (err != nil) != (x.bad != "") || err != nil &&
			(!structured.IsBadInput(err) || !strings.Contains(err.Error(), x.bad)) {
			t.Errorf("%+v: %v", x, err)
		}
		if (change != nil) != (x.message != "") || change != nil && !strings.Contains(change.Message, x.message) {
			t.Errorf("%+v: %+v", x, change)
		}
		if change != nil && x.wantLabels != nil && (change.Values[1] != x.wantLabels ||
			strings.Contains(change.Message, "relaxed") != (x.wantLabels == 3)) {
			t.Errorf("%+v: %+v", x, change)
		}
	}
	single := &structured.Dataset{Name: "x", Offsets: []int{0, 1, 2, 3}}
	c := config.Default()
	c.Task, c.Edges = "segment", "potts"
	for superpixels, want := range map[int]string{0: "lower --cell-pixels (now 8 pixels)",
		7: "raise --superpixels (now 7)"} {
		c.Superpixels = superpixels
		if _, err := prepareRegions(&c, single); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if c.Edges = "none"; prepares(t, &c, single) != nil {
		t.Error("regions alone need no neighbours")
	}
}

func prepares(t *testing.T, c *config.Config, d *structured.Dataset) error {
	t.Helper()
	_, err := prepareRegions(c, d)
	return err
}

// Lines of text have at most twice as many lines as words, and some more for comments.
func TestMostLines(t *testing.T) {
	task, _ := Named("parse")
	if got := task.MostLines(7); got != 14+mostComments {
		t.Errorf("%d lines for 7 words", got)
	}
	if got := task.MostLines(0); got != 2*5000+mostComments {
		t.Errorf("%d lines", got)
	}
}
