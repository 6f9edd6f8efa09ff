package chart

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Entropy writes the entropy in nats of the Gibbs distribution of every example at temperature μ: the sum of the
// entropies of the choices of its derivations. Nothing is subtracted, so errors are relative to the entropy, whatever
// the scores. NaN for potentials that are not valid or allow no output.
func (o *Oracle) Entropy(θ *structured.Potentials, μ float64, value []float64) {
	o.sums(θ, μ, nil, func(b int, logZ float64) {
		value[b] = o.choices(θ, b, logZ, func(cell int, terms []float64) (sum float64) {
			for _, s := range shares(terms) {
				if s > 0 {
					sum -= s * math.Log(s)
				}
			}
			return sum
		})
	})
}

// Divergence writes the Kullback–Leibler divergence KL(p‖q) in nats, of the Gibbs distributions of every example of two
// potentials of the same form at temperature μ: the sum of the divergences of the choices of derivations. +∞ if q
// forbids what p does not; NaN as in Entropy.
func (o *Oracle) Divergence(p, q *structured.Potentials, μ float64, value []float64) {
	if o.other == nil {
		o.other = New(o.declare)
	}
	other, n := o.other, 0
	other.guard.Begin(q)
	var terms []float64
	o.sums(p, μ, nil, func(b int, logZ float64) {
		if p.Outputs[b] == p.Outputs[b+1] {
			value[b] = 0
			return
		}
		if !other.guard.Valid(q, b) {
			value[b] = math.NaN()
			return
		}
		other.open(q, b, 1/μ)
		other.in.sum(&other.chart)
		c := &other.chart
		if n = c.most; n > len(terms) {
			terms = make([]float64, n)
		}
		if math.IsInf(other.in.total(c), -1) {
			logZ = math.NaN()
		}
		value[b] = o.choices(p, b, logZ, func(cell int, mine []float64) (sum float64) {
			g, at := c.at(cell)
			theirs := c.fill(terms, g, at, c.weights, other.in.value)
			total := other.in.value[cell]
			value := logSum(mine)
			for k, v := range mine {
				if d := v - value; d > negligible {
					if s := math.Exp(d); math.IsInf(theirs[k], -1) {
						sum = math.Inf(1)
					} else {
						sum += s * (d - (theirs[k] - total))
					}
				}
			}
			return sum
		})
	})
}

// choices sums what a function says of the terms of every cell of the open example, weighted by the probability of the
// cell.
func (o *Oracle) choices(θ *structured.Potentials, b int, logZ float64,
	of func(cell int, terms []float64) float64) float64 {
	if θ.Outputs[b] == θ.Outputs[b+1] {
		return 0
	}
	if !(logZ > minusInf) {
		return math.NaN()
	}
	o.out.compute(&o.chart, &o.in)
	sum := 0.0
	for i := range o.chart.groups {
		g := &o.chart.groups[i]
		for q := range g.cells {
			if p := o.out.cell[g.cell(q)]; p > 0 {
				sum += p * of(g.cell(q), o.chart.fill(o.in.terms, g, q, o.chart.weights, o.in.value))
			}
		}
	}
	return max(0, sum)
}
