package predictions

import (
	"bufio"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/data/treebank"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/chains"
)

// everything asks for all that can be said beside the best outputs.
var everything = Options{NBest: 2, Marginals: true, Confidence: true, Probability: true, Entropy: true,
	Samples: 2, Uncalibrated: true}

// laid writes predictions for some examples with a layout, with their numbers from 7 on.
func laid(t *testing.T, l Layout, d *structured.Dataset, all ...*Prediction) string {
	t.Helper()
	var out strings.Builder
	w := bufio.NewWriter(&out)
	for i, p := range all {
		text, at := l.Add(nil, d, i, p)
		if err := WriteNumbered(w, text, 7+i, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func bound(x float64) *float64 { return &x }

// All layouts write what testdata/layouts.txt has, which was read: the best output alone, and with all that can be
// asked for.
func TestLayouts(t *testing.T) {
	var got strings.Builder
	show := func(name, text string) { got.WriteString("=== " + name + "\n" + text) }
	nan, inf := math.NaN(), math.Inf(1)

	tags := structured.NewAlphabet("O", "B-X", `I-"X`)
	d := &structured.Dataset{
		Name: "d", Alphabet: tags, Offsets: []int{0, 2, 3}, IDs: []string{"", `a"b`}, ColumnNames: []string{"word", "pos"},
		Columns: [][]string{{"é", "<b>", "c"}, {"P", "Q", "R"}},
		Ranges:  [][2]int64{{0, 1}, {2, 5}, {-1, -1}},
	}
	labels := []*Prediction{
		{
			Output: Output{[]int32{1, 2}, 2.5, 0.5}, NBest: []Output{{[]int32{1, 2}, 2.5, 0.5}, {[]int32{0, 0}, -1.25, 0.25}},
			Marginals: []float32{.25, .625, .125, .5, 0, .5}, Entropy: 0.75, Samples: [][]int32{{1, 2}, {0, 0}},
			Spans: []Span{{chains.Entity{First: 0, Last: 1, Type: 0}, 0.5}, {chains.Entity{First: 1, Last: 1, Type: 1}, nan}},
		},
		{Output: Output{[]int32{0}, 1e30, nan}, NBest: []Output{{[]int32{0}, 1e30, nan}}, Marginals: []float32{1, 0, 0},
			Bound: bound(inf), Samples: [][]int32{{0}}},
	}
	show("labels, JSON", laid(t, JSON(tags, Options{}), d, labels...))
	show("labels, JSON, everything", laid(t, JSON(tags, everything), d, labels...))
	show("labels, JSON, spans", laid(t, JSON(tags, Options{Spans: true}), d, labels...))
	show("labels, JSON, tokens", laid(t, WithTokens(JSON(tags, Options{})), d, labels...))
	show("labels, columns", laid(t, Columns(tags, Options{}), d, labels...))
	show("labels, columns, into", laid(t, Columns(tags, Options{Into: "pos"}), d, labels...))
	show("labels, columns, everything", laid(t, Columns(tags, everything), d, labels...))
	without := everything
	without.NBest = 0
	show("labels, columns, no n-best", laid(t, Columns(tags, without), d, labels...))
	show("labels, spans", laid(t, SpanLines(tags), d, labels...))
	bare := &structured.Dataset{Name: "d", Alphabet: tags, Offsets: d.Offsets, IDs: d.IDs, Labels: []int32{0, 1, 2}}
	show("labels, columns of none", laid(t, Columns(tags, Options{}), bare, labels...))
	margins := []*Prediction{{Output: Output{[]int32{1, 2}, 2.5, nan},
		Margins: []float32{-1, 1, float32(-inf), float32(inf), -2, 0.5}, Bound: bound(3.5)}}
	show("labels, margins, JSON", laid(t, JSON(tags, without), bare, margins...))

	relations := structured.NewAlphabet("root", "det")
	b, err := treebank.Reader{Names: relations}.Read(strings.NewReader("# text = the dog\n"+
		"1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n2\tdog\tdog\tNOUN\t_\t_\t0\troot\t_\tx=y\n\n"+
		"1\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n\n"), "b")
	if err != nil {
		t.Fatal(err)
	}
	parsed := b.Dataset()
	arcs := []*Prediction{
		{
			Output:    Output{[]int32{2, 0, 1, 0}, 1.5, 0.75},
			NBest:     []Output{{[]int32{2, 0, 1, 0}, 1.5, 0.75}, {[]int32{0, 1, 0, 1}, 0.5, 0.25}},
			Marginals: []float32{.25, .75, .125, .875}, Entropy: 0.5, Samples: [][]int32{{2, 0, 1, 0}, {0, 1, 0, 1}},
		},
		{Output: Output{[]int32{0, 0}, 0, 1}, NBest: []Output{{[]int32{0, 0}, 0, 1}}, Marginals: []float32{1},
			Samples: [][]int32{{0, 0}, {0, 0}}},
	}
	show("trees, CoNLL-U", laid(t, TreeColumns(relations, Options{}), parsed, arcs...))
	show("trees, CoNLL-U, everything", laid(t, TreeColumns(relations, everything), parsed, arcs...))
	show("trees, CoNLL-U, no n-best", laid(t, TreeColumns(relations, without), parsed, arcs...))
	show("trees, JSON", laid(t, TreeJSON(relations, Options{}), parsed, arcs...))
	show("trees, JSON, everything", laid(t, TreeJSON(relations, everything), parsed, arcs...))

	names := structured.NewAlphabet("S", "NP")
	sentence := &structured.Dataset{Name: "d", Offsets: []int{0, 2}, ColumnNames: []string{"word", "upos"},
		Columns: [][]string{{"the", "dog"}, {"DT", "NN"}}}
	brackets := []*Prediction{{
		Output:    Output{[]int32{2, 1, 0, 0}, 1.5, 0.75},
		NBest:     []Output{{[]int32{2, 1, 0, 0}, 1.5, 0.75}, {[]int32{0, 1, 0, 0}, 0.5, 0.25}},
		Relations: []float32{.5, 0, .5, 0, .875, .125, 0, 0, 0, 1, 0, 0}, Entropy: 0.5,
		Samples: [][]int32{{2, 1, 0, 0}, {0, 1, 0, 0}},
	}}
	show("constituents, brackets", laid(t, Brackets(names, Options{}), sentence, brackets...))
	show("constituents, brackets, everything", laid(t, Brackets(names, everything), sentence, brackets...))
	show("constituents, brackets, no n-best", laid(t, Brackets(names, without), sentence, brackets...))
	show("constituents, JSON", laid(t, BracketJSON(names, Options{}), sentence, brackets...))
	show("constituents, JSON, everything", laid(t, BracketJSON(names, everything), sentence, brackets...))

	symbols := structured.NewAlphabet("a", "b")
	lines := &structured.Dataset{Name: "d", Offsets: []int{0, 4, 6}, IDs: []string{"x.png", ""}}
	strs := []*Prediction{
		{Output: Output{[]int32{0, 1, 0}, 1.5, 0.75}, NBest: []Output{{[]int32{0, 1, 0}, 1.5, 0.75}, {[]int32{}, 0.5, 0.25}},
			Entropy: 0.5, Samples: [][]int32{{0, 1}, {}}},
		{Output: Output{[]int32{1}, 0, 1}, NBest: []Output{{[]int32{1}, 0, 1}}, Samples: [][]int32{{1}, {0}}},
	}
	spaced := everything
	spaced.Spaced = true
	show("lines", laid(t, Transcripts(symbols, Options{}, false), lines, strs...))
	show("lines, everything", laid(t, Transcripts(symbols, spaced, false), lines, strs...))
	show("lines, JSON", laid(t, Transcripts(symbols, Options{}, true), lines, strs...))
	show("lines, JSON, everything", laid(t, Transcripts(symbols, spaced, true), lines, strs...))

	at := func(x float64) boxes.Box { return boxes.Box{X: x, Y: 1, Width: 10, Height: 5.5} }
	images := &structured.Dataset{Name: "d", Offsets: []int{0, 2, 3}, TaskData: &localisation.Set{
		ClassID: 3, Images: []localisation.Image{{ID: 41, Gold: &boxes.Truth{Box: at(5)}}, {ID: 42}},
		Boxes: []boxes.Box{at(0), at(5), at(9)}, Offsets: []int{0, 2, 3},
	}}
	found := []*Prediction{
		{Output: Output{[]int32{0}, 1.5, 0.75}, NBest: []Output{{[]int32{0}, 1.5, 0.75}, {[]int32{1}, 0.5, 0.25}},
			Marginals: []float32{.75, .25}, Entropy: 0.5, Samples: [][]int32{{0}, {1}}, Bound: bound(2)},
		{Output: Output{[]int32{0}, 2, nan}, NBest: []Output{{[]int32{0}, 2, nan}}, Marginals: []float32{1},
			Samples: [][]int32{{0}, {0}}, Bound: bound(inf)},
	}
	show("boxes, COCO", laid(t, Results(Options{}), images, found...))
	show("boxes, COCO, everything", laid(t, Results(everything), images, found...))
	show("boxes, COCO, score", laid(t, Results(Options{Probability: true}), images, found...))
	show("boxes, JSON", laid(t, BoxJSON(Options{}), images, found...))
	show("boxes, JSON, everything", laid(t, BoxJSON(everything), images, found...))

	corpus := &alignments.Corpus{Name: "x", Words: []string{"a", "b", "A", "B"}, Offsets: []int{0, 4}, Sources: []int{2}}
	pairs := corpus.Dataset()
	linked := []*Prediction{{
		Output: Output{[]int32{2, 0}, 1.5, nan}, NBest: []Output{{[]int32{2, 0}, 1.5, nan}, {[]int32{1, 2}, 0.5, nan}},
		Margins: []float32{-1, 2, float32(-inf), float32(inf)}, Entropy: 0.5,
		Samples: [][]int32{{2, 0}, {1, 2}},
	}}
	show("links", laid(t, Links(alignments.Matchings, Options{}), pairs, linked...))
	show("links, everything", laid(t, Links(alignments.Matchings, everything), pairs, linked...))
	show("links, no n-best", laid(t, Links(alignments.Matchings, without), pairs, linked...))
	show("links, JSON", laid(t, LinksJSON(alignments.Matchings, Options{}), pairs, linked...))
	show("links, JSON, everything", laid(t, LinksJSON(alignments.Matchings, everything), pairs, linked...))

	want, err := os.ReadFile("testdata/layouts.txt")
	if err != nil || got.String() != string(want) {
		t.Errorf("%v; predictions are now\n%s", err, got.String())
	}
}
