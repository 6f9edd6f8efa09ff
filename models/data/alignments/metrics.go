package alignments

import (
	"fmt"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Metrics compare predicted links A with the sure links S and the possible links P, which contain S (Och and Ney 2003):
//
//	AER = 1 − (|A∩S| + |A∩P|) / (|A| + |S|),   precision = |A∩P| / |A|,   recall = |A∩S| / |S|
//
// All are fractions of 1. AER is 0 where there are neither predicted nor sure links; precision and recall are 1 where
// their denominators are 0.
type Metrics struct {
	AER       float64 `json:"aer"` // alignment error rate
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`        // harmonic mean of precision and recall
	Predicted int     `json:"predicted"` // |A|
	Sure      int     `json:"sure"`      // |S|
	Possible  int     `json:"possible"`  // |P|
	Pairs     int     `json:"pairs"`
}

// Evaluator accumulates Metrics over sentence pairs. It serves one goroutine at a time.
type Evaluator struct {
	of Outputs

	predicted, sure, possible, pairs int
	rightSure, rightPossible         int // |A∩S|, |A∩P|
}

func NewEvaluator() *Evaluator { return NewEvaluatorOf(Matchings) }

func NewEvaluatorOf(of Outputs) *Evaluator { return &Evaluator{of: of} }

// AddLinks compares the predicted links of a pair with the gold ones; whether a predicted link is sure does not matter.
// Both have no repetitions.
func (e *Evaluator) AddLinks(gold, predicted []Link) {
	e.pairs++
	e.predicted += len(predicted)
	e.possible += len(gold)
	kinds := make(map[[2]int32]bool, len(gold))
	for _, l := range gold {
		kinds[[2]int32{l.Source, l.Target}] = l.Sure
		if l.Sure {
			e.sure++
		}
	}
	for _, l := range predicted {
		sure, right := kinds[[2]int32{l.Source, l.Target}]
		if right {
			e.rightPossible++
		}
		if sure {
			e.rightSure++
		}
	}
}

// Add implements structured.Evaluator for an output y of example i of a data set with links.
func (e *Evaluator) Add(d *structured.Dataset, i int, y []int32) {
	e.AddLinks(GoldLinks(d, i), e.of.Links(y))
}

// Links returns the metrics of all pairs added so far.
func (e *Evaluator) Links() Metrics {
	share := func(a, b int, otherwise float64) float64 {
		if b == 0 {
			return otherwise
		}
		return float64(a) / float64(b)
	}
	m := Metrics{
		AER:       1 - share(e.rightSure+e.rightPossible, e.predicted+e.sure, 1),
		Precision: share(e.rightPossible, e.predicted, 1), Recall: share(e.rightSure, e.sure, 1),
		Predicted: e.predicted, Sure: e.sure, Possible: e.possible, Pairs: e.pairs,
	}
	if sum := m.Precision + m.Recall; sum > 0 {
		m.F1 = 2 * m.Precision * m.Recall / sum
	}
	return m
}

func (e *Evaluator) Metrics() structured.Metrics { return e.Links().General() }

func (e *Evaluator) Table() string { return e.Links().Table() }

// General returns the metrics under the names that they have in JSON.
func (m Metrics) General() structured.Metrics {
	return structured.Metrics{Measures: []structured.Measure{
		{Name: "aer", Value: m.AER}, {Name: "precision", Value: m.Precision}, {Name: "recall", Value: m.Recall},
		{Name: "f1", Value: m.F1},
		{Name: "predicted", Value: float64(m.Predicted)}, {Name: "sure", Value: float64(m.Sure)},
		{Name: "possible", Value: float64(m.Possible)}, {Name: "pairs", Value: float64(m.Pairs)},
	}}
}

// String returns the metrics in one line.
func (m Metrics) String() string {
	return fmt.Sprintf("AER %.2f %%, precision %.2f %%, recall %.2f %%, F1 %.2f %%", 100*m.AER,
		100*m.Precision, 100*m.Recall, 100*m.F1)
}

// Table formats the counts and the metrics.
func (m Metrics) Table() string {
	var b strings.Builder
	pairs := "sentence pairs"
	if m.Pairs == 1 {
		pairs = "sentence pair"
	}
	fmt.Fprintf(&b, "%d %s: %d predicted links, %d sure and %d only possible ones in the gold alignments\n\n",
		m.Pairs, pairs, m.Predicted, m.Sure, m.Possible-m.Sure)
	for _, row := range []struct {
		name  string
		value float64
	}{
		{"alignment error rate (AER)", m.AER}, {"precision: predicted links that are possible", m.Precision},
		{"recall: sure links that are predicted", m.Recall}, {"F1 of the two", m.F1},
	} {
		fmt.Fprintf(&b, "%-46s %6.2f %%\n", row.name, 100*row.value)
	}
	return b.String()
}
