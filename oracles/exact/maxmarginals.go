package exact

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

func (o *Oracle) MaxMarginals(θ *structured.Potentials, y []int32, value []float64, m *oracles.MaxMarginals) {
	o.Max(θ, y, value)
	m.Resize(θ, func(int) int { return o.y })
	for b := range θ.Len() {
		x, to := exampleOf(θ, b), m.Of(b)
		switch {
		case math.IsInf(value[b], -1), math.IsNaN(value[b]):
			for k := range to {
				to[k] = value[b]
			}
			continue
		case x.plan.forest:
			o.forestMaxMarginals(&x, to)
		default:
			for v, scores := range x.tree(1).MaxMarginals() {
				copy(to[v*o.y:], scores)
			}
		}
		for k, s := range to { // rounded alike
			to[k] = min(s, value[b])
		}
		for v, l := range y[θ.Outputs[b]:θ.Outputs[b+1]] {
			to[v*o.y+int(l)] = value[b]
		}
	}
}

// forestMaxMarginals adds to the best score of each variable's subtree, given its label, that of the rest of the
// forest. Max has prepared the tables.
func (o *Oracle) forestMaxMarginals(x *example, to []float64) {
	o.above = vec.Grow(o.above, x.n*o.wide)
	o.collectMax(x, o.above)
	total := 0.0 // of the roots
	for _, s := range x.plan.steps {
		if s.parent < 0 {
			total += highest(o.rowOf(o.below, s.v))
		}
	}
	others := 0.0 // the other trees
	for _, s := range x.plan.steps {
		all := o.rowOf(o.below, s.v)
		if s.parent < 0 {
			others = total - highest(all)
		} else {
			rest, message := o.sum, o.rowOf(o.above, s.v)
			for l, m := range o.rowOf(o.below, s.parent) {
				if rest[l] = m; m > minusInf {
					rest[l] -= message[l]
				}
			}
			o.raise(x, s.edge, s.table^1, all, rest)
		}
		for l, m := range all[:o.y] {
			to[int(s.v)*o.y+l] = m + others
		}
	}
}

func highest(xs []float64) float64 {
	m := minusInf
	for _, x := range xs {
		m = max(m, x)
	}
	return m
}
