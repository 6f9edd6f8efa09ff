package foreign

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Indicator writes 1_y of the outputs y [Numbers], how often each of them uses each potential, to u, an array for each
// part [MarginalSize]: the gradient of their scores. value is nil, or what Max wrote with y. Then an example without an
// output, of the value −∞, has zeros, and one of the value NaN NaN: 1_y is a subgradient of Max.
func (t *Batch) Indicator(y []int32, value []float64, u [][]float32) error {
	if len(y) != t.Numbers() || value != nil && len(value) != t.Len() {
		return fmt.Errorf("%d numbers and %d values, expected %d and %d", len(y), len(value), t.Numbers(), t.Len())
	}
	if u == nil {
		return fmt.Errorf("indicators have no place")
	}
	var each []int
	for b := range t.Len() + 1 {
		each = append(each, b)
	}
	all := structured.Marginals{Structure: t.form.Structure, Gold: t.gold, Graphs: t.graphs}
	for k, p := range t.parts {
		if len(u[k]) != t.MarginalSize(k) {
			return fmt.Errorf("indicators of part %q have %d numbers, expected %d", p.Name, len(u[k]), t.MarginalSize(k))
		}
		if p.Values = u[k]; p.Offsets == nil {
			p.Offsets = each
		}
		all.Parts = append(all.Parts, p)
	}
	all.Clear()
	of := all
	if t.form.ends() { // which the structure does not know
		of.Parts = of.Parts[:start]
	}
	for b := range t.Len() {
		if value != nil && math.IsInf(value[b], -1) {
			continue
		}
		example := y[t.outputs[b]:t.outputs[b+1]]
		if err := t.checkOutput(b, example); err != nil {
			return err
		}
		of.Add(b, example, 1)
	}
	l := lane{u: of}
	l.endMarginals(t, u, 0, t.Len())
	for b, v := range value {
		if !math.IsNaN(v) {
			continue
		}
		for k := range all.Parts {
			fill(all.Parts[k].Of(b), notANumber)
		}
	}
	return nil
}
