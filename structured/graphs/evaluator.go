package graphs

import (
	"fmt"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Evaluator compares labelings with the gold ones: the share of right labels (accuracy), and the intersection over
// union of every class, of which class_iou is the mean. It counts pixels if the data has the table PixelRows, and
// variables otherwise. What has no known label does not count. It serves one goroutine at a time.
type Evaluator struct {
	names  []string
	counts []float64 // [Y×Y] pixels or variables by gold label, then predicted label
}

// NewEvaluator returns an evaluator for labels of the alphabet.
func NewEvaluator(labels *structured.Alphabet) *Evaluator {
	return &Evaluator{labels.Names(), make([]float64, labels.Len()*labels.Len())}
}

func (e *Evaluator) Add(d *structured.Dataset, i int, y []int32) {
	pixels := d.Table(PixelRows)
	for v, predicted := range y {
		at := d.Offsets[i] + v
		if pixels == nil {
			if gold := d.Labels[at]; gold >= 0 {
				e.AddCount(gold, predicted, 1)
			}
			continue
		}
		labels, counts := pixels.Attributes.Row(at)
		for k, gold := range labels {
			e.AddCount(gold, predicted, float64(counts[k]))
		}
	}
}

// AddCount counts n pixels or variables with a gold and a predicted label.
func (e *Evaluator) AddCount(gold, predicted int32, n float64) {
	e.counts[int(gold)*len(e.names)+int(predicted)] += n
}

// Count returns how many pixels or variables have that gold and that predicted label.
func (e *Evaluator) Count(gold, predicted int) float64 { return e.counts[gold*len(e.names)+predicted] }

// class counts one label.
type class struct{ gold, predicted, correct float64 }

// iou returns |gold ∩ predicted| / |gold ∪ predicted|. A class that is in neither has none.
func (c class) iou() (iou float64, occurs bool) {
	union := c.gold + c.predicted - c.correct
	return c.correct / union, union > 0
}

func (e *Evaluator) class(l int) (c class) {
	n := len(e.names)
	for k := range n {
		c.gold += e.counts[l*n+k]
		c.predicted += e.counts[k*n+l]
	}
	c.correct = e.counts[l*n+l]
	return c
}

// totals returns the number of right labels and of all, the mean IoU over the classes that occur, and how many do.
func (e *Evaluator) totals() (correct, all, mean float64, classes int) {
	for l := range e.names {
		c := e.class(l)
		correct, all = correct+c.correct, all+c.gold
		if iou, occurs := c.iou(); occurs {
			mean += iou
			classes++
		}
	}
	return correct, all, mean / float64(max(1, classes)), classes
}

// ratio is 0 where there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Metrics implements structured.Evaluator: accuracy, class_iou, and the number of pixels or variables that count
// ("labelled"); by class iou, precision, recall, and the numbers of its pixels or variables. Classes that are neither
// in the gold labels nor predicted do not occur.
func (e *Evaluator) Metrics() structured.Metrics {
	correct, all, mean, _ := e.totals()
	m := structured.Metrics{
		Measures: []structured.Measure{{Name: "accuracy", Value: ratio(correct, all)}, {Name: "class_iou", Value: mean},
			{Name: "labelled", Value: all}},
		Types: map[string]structured.Metrics{},
	}
	for l, name := range e.names {
		c := e.class(l)
		iou, occurs := c.iou()
		if !occurs {
			continue
		}
		m.Types[name] = structured.Metrics{Measures: []structured.Measure{
			{Name: "iou", Value: iou}, {Name: "precision", Value: ratio(c.correct, c.predicted)},
			{Name: "recall", Value: ratio(c.correct, c.gold)},
			{Name: "gold", Value: c.gold}, {Name: "predicted", Value: c.predicted}, {Name: "correct", Value: c.correct},
		}}
	}
	return m
}

// Table implements structured.Evaluator: the totals, then a line per class in the order of the labels.
func (e *Evaluator) Table() string {
	correct, all, mean, classes := e.totals()
	width := 5
	for _, name := range e.names {
		width = max(width, len([]rune(name)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "accuracy %.2f %% of %.0f; mean IoU %.2f %% over %d classes\n", 100*ratio(correct, all), all, 100*mean,
		classes)
	fmt.Fprintf(&b, "%-*s  %7s  %9s  %7s  %10s\n", width, "class", "IoU", "precision", "recall", "labelled")
	for l, name := range e.names {
		c := e.class(l)
		if iou, occurs := c.iou(); occurs {
			fmt.Fprintf(&b, "%-*s  %6.2f%%  %8.2f%%  %6.2f%%  %10.0f\n", width, name, 100*iou, 100*ratio(c.correct, c.predicted),
				100*ratio(c.correct, c.gold), c.gold)
		}
	}
	return b.String()
}
