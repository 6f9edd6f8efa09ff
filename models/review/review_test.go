package review

import (
	"math"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

func TestReliability(t *testing.T) {
	events := []Event{{Confidence: 0, Right: false}, {Confidence: 1, Right: true}, {Confidence: 1, Right: false},
		{Confidence: 0.95, Right: true}, {Confidence: 0.2, Right: true}}
	r := newReliability("tokens", events)
	// 0.2 is the upper end of the third bin, 0 the lower end of the first.
	if len(r.Bins) != 3 || r.Bins[0].Count != 1 || r.Bins[1].Low != 2.0/Bins || r.Bins[2].Count != 3 {
		t.Fatalf("%+v", r)
	}
	want := (0 + 0.8 + 3*math.Abs(2.0/3-2.95/3)) / 5
	if math.Abs(r.ECE-want) > 1e-12 || r.Count != 5 {
		t.Errorf("%v, expected %v", r.ECE, want)
	}
	if empty := newReliability("tokens", nil); empty.ECE != 0 || empty.Bins == nil {
		t.Errorf("%+v", empty)
	}
}

func TestCurve(t *testing.T) {
	r := &Review{ClaimUnits: "entities", Gold: 4, Chosen: Counts{3, 2, 2}, Claims: []Event{
		{0.3, true, true}, {0.9, true, true}, {0.5, false, false}, {0.5, true, true}, {0.1, false, false},
	}}
	c := r.Curve()
	want := []Point{{0.9, 1, 0.25, 0.4, 1, 1}, {0.5, 2.0 / 3, 0.5, 4.0 / 7, 3, 2}, {0.3, 0.75, 0.75, 0.75, 4, 3},
		{0.1, 0.6, 0.75, 2.0 / 3, 5, 3}}
	if len(c.Points) != len(want) {
		t.Fatalf("%+v", c.Points)
	}
	for k, p := range c.Points {
		if math.Abs(p.F1-want[k].F1) > 1e-12 || math.Abs(p.Precision-want[k].Precision) > 1e-12 ||
			p.Recall != want[k].Recall || p.Predicted != want[k].Predicted || p.Threshold != want[k].Threshold {
			t.Errorf("%+v, expected %+v", p, want[k])
		}
	}
	if math.Abs(c.Area-(0.25+0.25*2/3+0.25*0.75)) > 1e-12 || c.Best.Threshold != 0.3 || c.Recall != 0.5 ||
		math.Abs(c.Precision-2.0/3) > 1e-12 {
		t.Errorf("%+v", c)
	}
	var b strings.Builder
	if err := c.writeCSV(&b); err != nil ||
		!strings.HasPrefix(b.String(), "threshold,precision,recall,f1,predicted,right,gold\n0.9,1,0.25,0.4,1,1,4\n") {
		t.Error(b.String())
	}
	many := &Review{Units: "tokens"}
	for k := range 10000 {
		many.Parts = append(many.Parts, Event{float64(k) / 10000, true, true})
	}
	if c := many.Curve(); len(c.Points) > mostPoints+1 || c.Points[len(c.Points)-1].Recall != 1 ||
		math.Abs(c.Area-1) > 1e-9 {
		t.Errorf("%d points, area %v", len(c.Points), c.Area)
	}
}

// Missed and made-up entities are parts of their example; the example of which the model was most sure comes first.
func TestLabels(t *testing.T) {
	names := structured.NewAlphabet("O", "B-x", "I-x")
	d := &structured.Dataset{Name: "d", Alphabet: names, Offsets: []int{0, 2, 4, 5, 6}, Labels: []int32{1, 2, 0, 0, 0, -1},
		LabelSets: [][]int32{nil}}
	marginals := func(p ...float32) []float32 { return p }
	span := func(first, last int, p float64) predictions.Span {
		return predictions.Span{Entity: chains.Entity{First: first, Last: last}, Probability: p}
	}
	r, by := &Review{Probabilities: true}, Labels(names, "token")
	for i, p := range []predictions.Prediction{
		{Output: predictions.Output{Labels: []int32{1, 0}, Probability: 0.4}, Marginals: marginals(0.1, 0.9, 0, 0.7, 0, 0.3),
			Spans: []predictions.Span{span(0, 0, 0.5), span(0, 1, 0.4)}},
		{Output: predictions.Output{Labels: []int32{0, 1}, Probability: 0.7}, Marginals: marginals(1, 0, 0, 0.2, 0.8, 0),
			Spans: []predictions.Span{span(1, 1, 0.8)}},
		{Output: predictions.Output{Labels: []int32{0}}, Marginals: marginals(1, 0, 0)},
		{Output: predictions.Output{Labels: []int32{1}}, Marginals: marginals(0.4, 0.6, 0)},
	} {
		by.Add(d, i, &p, r)
	}
	r.Worst(5)
	if r.All != 3 || r.Wrong != 2 || len(r.Parts) != 5 || len(r.Entities) != 2 || r.Gold != 1 ||
		r.Chosen != (Counts{2, 0, 0}) || len(r.Claims) != 3 {
		t.Fatalf("%+v", r)
	}
	if e := r.Examples[0]; e.ID != "1" || *e.Confidence != 0.8 || e.Wrong != 1 || e.Parts[0].Predicted != "x" ||
		e.Parts[0].Gold != "" {
		t.Errorf("%+v", e)
	}
	e := r.Examples[1]
	if math.Abs(*e.Confidence-0.7) > 1e-6 || *e.Probability != 0.4 || e.Wrong != 2 || e.Parts[1].Gold != "x" ||
		*e.Parts[1].GoldProbability != 0.4 || e.Parts[0].Predicted != "x" {
		t.Errorf("%+v", e)
	}
}

// An entity that was missed though all its labels are right, because it ends elsewhere, is doubted by what all other
// readings have together; one with wrong labels, by theirs.
func TestDoubt(t *testing.T) {
	names := structured.NewAlphabet("O", "B-x", "I-x")
	d := &structured.Dataset{Name: "d", Alphabet: names, Offsets: []int{0, 2, 4}, Labels: []int32{1, 0, 1, 2}}
	r, by := &Review{Probabilities: true}, Labels(names, "token")
	span := func(first, last int, p float64) predictions.Span {
		return predictions.Span{Entity: chains.Entity{First: first, Last: last}, Probability: p}
	}
	for i, p := range []predictions.Prediction{
		{Output: predictions.Output{Labels: []int32{1, 2}}, Marginals: []float32{0, 1, 0, 0.3, 0, 0.7},
			Spans: []predictions.Span{span(0, 0, 0.3), span(0, 1, 0.7)}},
		{Output: predictions.Output{Labels: []int32{0, 0}}, Marginals: []float32{0.6, 0.4, 0, 0.9, 0, 0.1},
			Spans: []predictions.Span{span(0, 1, 0.1)}},
	} {
		by.Add(d, i, &p, r)
	}
	want := map[string]float64{"0": 0.7, "1": 0.75}
	for _, e := range r.Examples {
		for _, part := range e.Parts {
			if part.Gold != "" && math.Abs(*part.Confidence-want[e.ID]) > 1e-6 {
				t.Errorf("example %s: doubted by %g, want %g", e.ID, *part.Confidence, want[e.ID])
			}
		}
	}
	if len(r.Examples) != 2 {
		t.Errorf("%d examples", len(r.Examples))
	}
}

// A part has the probabilities of the label that is predicted and of the gold one, if the model has that label.
func TestProbabilitiesOfLabels(t *testing.T) {
	names := structured.NewAlphabet("a", "b")
	d := &structured.Dataset{Alphabet: structured.NewAlphabet("a", "b", "c")}
	p := &predictions.Prediction{Marginals: []float32{0.75, 0.25, 0.375, 0.625}}
	p.Labels = []int32{0, 1}
	for _, c := range []struct {
		at   int
		gold int32
		want float64 // 0: unknown
	}{{0, 1, 0.25}, {1, 1, 0.625}, {1, 2, 0}} {
		to := &Review{Probabilities: true}
		part := to.labelled("token", d, names, p, c.at, c.gold)
		if part.Confidence == nil || *part.Confidence != []float64{0.75, 0.625}[c.at] || len(to.Parts) != 1 {
			t.Errorf("%+v", part)
		}
		if known := part.GoldProbability != nil; known != (c.want > 0) || known && *part.GoldProbability != c.want {
			t.Errorf("label %d at %d: probability %v, expected %g", c.gold, c.at, part.GoldProbability, c.want)
		}
	}
}
