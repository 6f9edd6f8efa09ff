package matchings

import (
	"fmt"

	"github.com/dsp-go/dsp/structured"
)

// Evaluator compares the links of matchings with gold ones. It implements structured.Evaluator and serves one goroutine at a time.
// Sources whose gold number is not known for certain do not count.
type Evaluator struct {
	gold, predicted, right int // links
	examples, exact        int
}

// Add implements structured.Evaluator.
func (e *Evaluator) Add(d *structured.Dataset, i int, y []int32) {
	exact := true
	for k, g := range d.Gold(i) {
		if g < 0 {
			continue
		}
		if g > 0 {
			e.gold++
		}
		if y[k] > 0 {
			e.predicted++
		}
		if g > 0 && y[k] == g {
			e.right++
		}
		exact = exact && y[k] == g
	}
	e.examples++
	if exact {
		e.exact++
	}
}

// Metrics implements structured.Evaluator: precision, recall and F1 of links, the share of examples whose matching is wrong, and
// counts. Ratios are 0 if there is nothing to count.
func (e *Evaluator) Metrics() structured.Metrics {
	return structured.Metrics{Measures: []structured.Measure{
		{Name: "link_precision", Value: ratio(e.right, e.predicted)}, {Name: "link_recall", Value: ratio(e.right, e.gold)},
		{Name: "link_f1", Value: ratio(2*e.right, e.gold+e.predicted)}, {Name: "matching_error", Value: ratio(e.examples-e.exact, e.examples)},
		{Name: "links", Value: float64(e.gold)}, {Name: "predicted_links", Value: float64(e.predicted)}, {Name: "matchings", Value: float64(e.examples)},
	}}
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Table implements structured.Evaluator.
func (e *Evaluator) Table() string {
	m := e.Metrics()
	return fmt.Sprintf("%d matchings, %.2f %% of them right\n\n%10s %10s %10s %13s %10s %10s\n%10d %10d %10d %13.2f %10.2f %10.2f\n",
		e.examples, 100*ratio(e.exact, e.examples), "gold links", "predicted", "right", "precision, %", "recall, %", "F1, %",
		e.gold, e.predicted, e.right, 100*m.Get("link_precision"), 100*m.Get("link_recall"), 100*m.Get("link_f1"))
}
