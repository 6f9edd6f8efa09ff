package constituents

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Bracket is a labelled constituent: words First to Last of those that count.
type Bracket struct {
	Label       string
	First, Last int
}

// Brackets returns the constituents of an output as EVALB compares them (Sekine and Collins 1997, with the usual
// settings of Collins): each label of a joined one apart, given what split makes of their names; without the labels
// TOP, ROOT and S1 at the top; without punctuation, which skip [n] marks, and without constituents that are nothing
// else; with PRT as ADVP.
func Brackets(y []int32, names *structured.Alphabet, split func(name string) []string, skip []bool) []Bracket {
	n := len(skip)
	before := make([]int, n+1) // words that count before each one
	for t, s := range skip {
		before[t+1] = before[t]
		if !s {
			before[t+1]++
		}
	}
	var all []Bracket
	for row, l := range y {
		if l == 0 {
			continue
		}
		first, last := before[row/n], before[row%n+1]-1
		if first > last {
			continue
		}
		for _, label := range split(names.Name(l - 1)) {
			switch label {
			case "TOP", "ROOT", "S1":
				continue
			case "PRT":
				label = "ADVP"
			}
			all = append(all, Bracket{label, first, last})
		}
	}
	return all
}

// Evaluator counts the brackets that predicted trees and gold ones have in common.
type Evaluator struct {
	gold, predicted, matched int
	complete, sentences      int
	labels                   map[string]*counts
}

type counts struct{ gold, predicted, matched int }

// NewEvaluator returns an evaluator without trees.
func NewEvaluator() *Evaluator { return &Evaluator{labels: map[string]*counts{}} }

func (e *Evaluator) of(label string) *counts {
	if e.labels[label] == nil {
		e.labels[label] = &counts{}
	}
	return e.labels[label]
}

// Add compares the brackets of a sentence. The same bracket may be there several times.
func (e *Evaluator) Add(gold, predicted []Bracket) {
	left := map[Bracket]int{}
	for _, b := range gold {
		left[b]++
		e.of(b.Label).gold++
	}
	matched := 0
	for _, b := range predicted {
		c := e.of(b.Label)
		c.predicted++
		if left[b] > 0 {
			left[b]--
			matched++
			c.matched++
		}
	}
	e.gold, e.predicted, e.matched = e.gold+len(gold), e.predicted+len(predicted), e.matched+matched
	if e.sentences++; matched == len(gold) && matched == len(predicted) {
		e.complete++
	}
}

// Metrics are measures of labelled brackets, as fractions of 1, and 0 where there is nothing to count.
type Metrics struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
	Complete  float64 `json:"complete"` // share of sentences whose brackets are all right, and no others
	Gold      int     `json:"gold"`
	Predicted int     `json:"predicted"`
	Matched   int     `json:"matched"`
	Sentences int     `json:"sentences"`

	Labels []LabelScore `json:"labels"` // by falling frequency in the gold trees
}

// LabelScore are the measures of one label.
type LabelScore struct {
	Name      string  `json:"name"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
	Gold      int     `json:"gold"`
	Predicted int     `json:"predicted"`
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Metrics returns the measures of all sentences added so far.
func (e *Evaluator) Metrics() Metrics {
	m := Metrics{
		Precision: ratio(e.matched, e.predicted), Recall: ratio(e.matched, e.gold),
		F1: ratio(2*e.matched, e.gold+e.predicted), Complete: ratio(e.complete, e.sentences),
		Gold: e.gold, Predicted: e.predicted, Matched: e.matched, Sentences: e.sentences,
	}
	for name, c := range e.labels {
		m.Labels = append(m.Labels, LabelScore{name, ratio(c.matched, c.predicted), ratio(c.matched, c.gold),
			ratio(2*c.matched, c.gold+c.predicted), c.gold, c.predicted})
	}
	slices.SortFunc(m.Labels, func(a, b LabelScore) int {
		if a.Gold != b.Gold {
			return b.Gold - a.Gold
		}
		return strings.Compare(a.Name, b.Name)
	})
	return m
}

// General returns the measures under the names that scripts rely on.
func (m Metrics) General() structured.Metrics {
	all := structured.Metrics{Measures: []structured.Measure{
		{Name: "precision", Value: m.Precision}, {Name: "recall", Value: m.Recall}, {Name: "f1", Value: m.F1},
		{Name: "complete", Value: m.Complete},
		{Name: "gold", Value: float64(m.Gold)}, {Name: "predicted", Value: float64(m.Predicted)},
		{Name: "matched", Value: float64(m.Matched)},
		{Name: "sentences", Value: float64(m.Sentences)},
	}, Types: map[string]structured.Metrics{}}
	for _, l := range m.Labels {
		all.Types[l.Name] = structured.Metrics{Measures: []structured.Measure{
			{Name: "precision", Value: l.Precision}, {Name: "recall", Value: l.Recall}, {Name: "f1", Value: l.F1},
			{Name: "gold", Value: float64(l.Gold)}, {Name: "predicted", Value: float64(l.Predicted)},
		}}
	}
	return all
}

// Table formats the measures for people.
func (m Metrics) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d constituents in %d sentences; %.2f %% of the sentences are right as a whole\n\n", m.Gold,
		m.Sentences, 100*m.Complete)
	fmt.Fprintf(&b, "%-12s %8s %12s %10s %8s\n", "label", "gold", "precision, %", "recall, %", "F1, %")
	fmt.Fprintf(&b, "%-12s %8d %12.2f %10.2f %8.2f\n", "all", m.Gold, 100*m.Precision, 100*m.Recall, 100*m.F1)
	for _, l := range m.Labels {
		fmt.Fprintf(&b, "%-12s %8d %12.2f %10.2f %8.2f\n", l.Name, l.Gold, 100*l.Precision, 100*l.Recall, 100*l.F1)
	}
	return b.String()
}
