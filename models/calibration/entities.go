package calibration

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain/entities"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// entities measures the entities of the best outputs of a batch, which no temperature changes.
func (s *search) entities(o oracles.Summer, examples []int, θ *structured.Potentials, logs []float64) measured {
	r := newMeasured(len(logs))
	labels, value := make([]int32, θ.OutputSize()), make([]float64, len(examples))
	o.Max(θ, labels, value)
	view, width := chains.Of(θ), s.model.Labels.Len()
	sums := entities.New(s.rules, width)
	var found, gold []chains.Entity
	for b, i := range examples {
		y := s.data.Gold(i)
		if slices.ContainsFunc(y, func(l int32) bool { return l < 0 || int(l) >= width }) || math.IsInf(value[b], -1) {
			r.skipped++
			continue
		}
		found, gold = s.rules.Of(found[:0], labels[θ.Outputs[b]:θ.Outputs[b+1]]), s.rules.Of(gold[:0], y)
		if len(found) == 0 {
			continue
		}
		r.count += len(found)
		for k, log := range logs {
			sums.Reset(&view, b, math.Exp2(log))
			for _, e := range found {
				p := 0.0
				if slices.Contains(gold, e) {
					p = sums.LogProbability(e)
				} else {
					p = sums.LogDoubt(e)
				}
				if !math.IsInf(p, -1) {
					r.sums[k] -= p
				} else if k == 0 { // wrong, and yet in all outputs that constraints allow
					r.count, r.skipped = r.count-1, r.skipped+1
				}
			}
		}
	}
	return r
}
