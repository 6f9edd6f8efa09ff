package review

import (
	"math"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/trees"
)

// expectReview compares the errors of a review, as its table says them, and what it counts.
func expectReview(t *testing.T, r *Review, all, wrong int, parts []Event, table ...string) {
	t.Helper()
	r.Worst(10)
	if r.All != all || r.Wrong != wrong || len(r.Parts) != len(parts) {
		t.Errorf("%d of %d examples are wrong, %d parts, expected %d of %d, %d parts", r.Wrong, r.All,
			len(r.Parts), wrong, all, len(parts))
		return
	}
	for k, p := range r.Parts {
		if math.Abs(p.Confidence-parts[k].Confidence) > 1e-6 || p.Right != parts[k].Right || p.Found != parts[k].Found {
			t.Errorf("part %d: %+v, expected %+v", k, p, parts[k])
		}
	}
	_, got, _ := strings.Cut(r.ErrorTable(), "\n\n")
	if want := strings.Join(table, "\n"); strings.TrimRight(got, "\n") != want {
		t.Errorf("%s\nexpected\n%s", got, want)
	}
}

// An arc is right if its head is, and its relation up to the subtype; it is as probable as those of all subtypes
// together.
func TestTrees(t *testing.T) {
	names := structured.NewAlphabet("root", "nsubj", "nsubj:pass", "obj")
	d := &structured.Dataset{
		Name: "x", Alphabet: names, Offsets: []int{0, 3, 6}, Outputs: []int{0, 6, 12}, ColumnNames: []string{"word"},
		Columns: [][]string{{"it", "sees", "us", "a", "b", "c"}},
		Labels:  []int32{2, 0, 2, 1, 0, 3, 2, 0, 2, 1, 0, 3},
	}
	r, by := &Review{Probabilities: true}, Trees(names)
	relations := make([]float32, 9*4)
	set := func(word int, head, relation int32, p float32) {
		relations[trees.Row(3, word, head)*4+int(relation)] = p
	}
	set(0, 2, 1, 0.5)
	set(0, 2, 2, 0.25)
	set(1, 0, 0, 1)
	set(2, 1, 3, 0.75)
	set(2, 2, 3, 0.125)
	for i, y := range [][]int32{{2, 0, 1, 2, 0, 3}, {2, 0, 2, 2, 0, 3}} {
		by.Add(d, i, &predictions.Prediction{Output: predictions.Output{Labels: y, Probability: 0.5}, Relations: relations},
			r)
	}
	if o := by.Options(true); !o.Marginals || !o.Relations || !o.Probability ||
		by.Options(false) != (predictions.Options{}) || r.Units != "arcs" {
		t.Errorf("%+v, %s", o, r.Units)
	}
	expectReview(t, r, 2, 1, []Event{{0.75, true, true}, {1, true, true}, {0.75, false, false}, {0.75, true, true},
		{1, true, true}, {0.125, true, true}},
		"x, example 0  probability of the output 0.5", "       at  text  gold   predicted  confidence  of gold",
		"  arc  2   us    2 obj  1 obj      0.7500      0.1250")
}

// A constituent is right if its words and its label are. Labels that the model does not know have no probability.
func TestConstituents(t *testing.T) {
	names, gold := structured.NewAlphabet("S", "NP"), structured.NewAlphabet("S", "NP", "X")
	d := &structured.Dataset{
		Name: "x", Alphabet: gold, Offsets: []int{0, 2}, Outputs: []int{0, 4}, ColumnNames: []string{"word"},
		Columns: [][]string{{"the", "dog"}},
		Labels:  []int32{2, 1, 0, 3},
	}
	p := &predictions.Prediction{Output: predictions.Output{Labels: []int32{1, 1, 0, 2}, Probability: 0.25},
		Relations: []float32{0, .75, .125, 0, 1.5, 0, 0, 0, 0, .5, 0, .5}}
	r := &Review{Probabilities: true}
	Constituents(names).Add(d, 0, p, r)
	expectReview(t, r, 1, 1, []Event{{0.75, false, false}, {1, true, true}, {0.5, false, false}},
		"x, example 0  probability of the output 0.25",
		"               at  text  gold  predicted  confidence  of gold",
		"  constituent  0   the   NP    S          0.7500      0.1250",
		"  constituent  1   dog   X     NP         0.5000      0.0000")
	missed := &Review{}
	Constituents(names).Add(d, 0, &predictions.Prediction{Output: predictions.Output{Labels: []int32{0, 1, 0, 0}}}, missed)
	expectReview(t, missed, 1, 1, nil, "x, example 0", "               at  text  gold  predicted",
		"  constituent  0   the   NP    -", "  constituent  1   dog   X     -")
}

// A line is right if its whole string is. Wrong ones are ranked by the share of the symbols that need no change.
func TestTranscripts(t *testing.T) {
	names := structured.NewAlphabet("a", "b", "c")
	d := &structured.Dataset{Name: "x", Alphabet: names, Offsets: []int{0, 5, 9, 14},
		Readings: [][]int32{{0, 1, 2, 0}, {0}, {0, 1}}}
	r, by := &Review{Probabilities: true}, Transcripts(names)
	for i, y := range [][]int32{{0, 1, 0}, {0}, {2, 2, 2}} {
		by.Add(d, i, &predictions.Prediction{Output: predictions.Output{Labels: y, Probability: float64(i+1) / 4}}, r)
	}
	expectReview(t, r, 3, 2, []Event{{0.25, false, false}, {0.5, true, true}, {0.75, false, false}},
		"x, example 2  character accuracy 0.0000  probability of the output 0.75", "        at   gold  predicted  confidence",
		"  line  0-4  ab    ccc        0.7500", "",
		"x, example 0  character accuracy 0.7500  probability of the output 0.25", "        at   gold  predicted  confidence",
		"  line  0-4  abca  aba        0.2500")
}

// Graphs are ranked by the share of right variables, those with regions of pixels by that of pixels; variables whose
// label is not known are left out.
func TestGraphs(t *testing.T) {
	names := structured.NewAlphabet("a", "b")
	d := &structured.Dataset{Name: "x", Alphabet: names, Offsets: []int{0, 4, 5, 6}, Labels: []int32{0, 1, 0, -1, 0, -1},
		LabelSets: [][]int32{nil}}
	r, by := &Review{}, Graphs(names, "variable")
	for i, y := range [][]int32{{0, 0, 0, 1}, {0}, {1}} {
		by.Add(d, i, &predictions.Prediction{Output: predictions.Output{Labels: y}}, r)
	}
	expectReview(t, r, 2, 1, nil, "x, example 0  accuracy 0.6667", "            at  gold  predicted",
		"  variable  1   b     a")

	d.Tables = []*structured.Table{{Name: graphs.PixelRows, Offsets: d.Offsets, Attributes: &structured.Sparse{
		Offsets: []int{0, 2, 3, 4, 5, 6, 6}, Index: []int32{0, 1, 1, 0, 1, 0}, Value: []float32{6, 2, 4, 5, 3, 1},
	}}}
	r, by = &Review{}, Graphs(names, "region")
	for i, y := range [][]int32{{0, 0, 0, 1}, {0}, {1}} {
		by.Add(d, i, &predictions.Prediction{Output: predictions.Output{Labels: y}}, r)
	}
	// 6 + 0 + 5 + 3 of 20
	expectReview(t, r, 2, 1, nil, "x, example 0  pixel accuracy 0.7000", "          at  gold  predicted",
		"  region  1   b     a")
}

// A box is right if it overlaps the object with an IoU above one half, and as probable as all candidates are that
// overlap it so.
func TestBoxes(t *testing.T) {
	at := func(x float64) boxes.Box { return boxes.Box{X: x, Y: 0, Width: 10, Height: 10} }
	s := &localisation.Set{
		Images: []localisation.Image{{Gold: &boxes.Truth{Box: at(0)}}, {Gold: &boxes.Truth{Box: at(0)}}, {}},
		Boxes:  []boxes.Box{at(0), at(1), at(20), at(21), at(2), at(30), at(0)}, Offsets: []int{0, 4, 6, 7},
	}
	d := &structured.Dataset{Name: "x", TaskData: s, Offsets: s.Offsets}
	r, by := &Review{Probabilities: true}, Boxes()
	for i, p := range []predictions.Prediction{
		{Output: predictions.Output{Labels: []int32{2}, Probability: 0.375}, Marginals: []float32{0.125, 0.25, 0.375, 0.25}},
		{Output: predictions.Output{Labels: []int32{0}, Probability: 0.75}, Marginals: []float32{0.75, 0.25}},
		{Output: predictions.Output{Labels: []int32{0}}, Marginals: []float32{1}},
	} {
		by.Add(d, i, &p, r)
	}
	expectReview(t, r, 2, 1, []Event{{0.625, false, false}, {0.75, true, true}},
		"x, example 0  IoU 0.0000  probability of the output 0.375",
		"       at  gold       predicted   confidence  of gold", "  box  2   0 0 10 10  20 0 10 10  0.6250      0.3750")
}

// Of many wrong parts those are kept of which the model was most sure, in their order; of variables few.
func TestManyParts(t *testing.T) {
	d := &structured.Dataset{Name: "x", Offsets: []int{0, 30}}
	for kind, most := range map[string]int{"token": shownParts, "region": shownVariables} {
		r, parts := &Review{Probabilities: true, Entropies: true}, make([]Part, 30)
		for k := range parts {
			parts[k] = Part{Kind: kind, First: k, Last: k, Confidence: pointer(float32(k%2) / 2)}
		}
		parts[7].Confidence = pointer(0.75)
		e := r.addExample(d, 0, &predictions.Prediction{Output: predictions.Output{Probability: 0.5}, Entropy: 2}, parts)
		if len(e.Parts) != most || e.Wrong != 30 || *e.Confidence != 0.75 || *e.Probability != 0.5 || *e.Entropy != 2 {
			t.Errorf("%+v", e)
		}
		before := -1
		for k, p := range e.Parts {
			if p.First <= before || k < min(most, 15) && most == shownVariables && p.First%2 == 0 {
				t.Errorf("%s: part %d is of %d, after %d", kind, k, p.First, before)
			}
			before = p.First
		}
		if table := r.ErrorTable(); !strings.Contains(table, "  entropy 2\n") ||
			!strings.HasSuffix(table, "  and "+map[string]string{"token": "10", "region": "25"}[kind]+" more\n") {
			t.Error(table)
		}
	}
}
