package segment

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/vec"
)

// Exp sums over all segmentations, forwards. The marginals follow backwards, from the conditional distributions of what comes before: with the
// probability that a segment with label y ends at t, its length is l with probability exp(h_{t−l+1}(y) + length(l, y) − a_t(y)), and the label
// before one that starts at s is y' with probability exp(α_{s−1}(y') + transition(y', y) − β_s(y)).
func (o *Oracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	o.prepare(θ, 1/μ)
	if u != nil {
		u.Like(θ)
		u.Clear()
	}
	for b := range θ.Len() {
		switch {
		case θ.Outputs[b] == θ.Outputs[b+1]:
			value[b] = 0
			continue
		case !o.open(θ, b):
			value[b] = math.NaN()
			continue
		}
		o.sums()
		logZ := logSum(o.row(o.α, o.n-1))
		value[b] = μ * logZ
		if u != nil && logZ > minusInf {
			o.marginals(u, b, logZ)
		}
	}
}

// sums computes h, a, α, β and reach of the open sequence.
func (o *Oracle) sums() {
	size := o.n * o.stride
	for _, table := range []*[]float64{&o.h, &o.a, &o.α, &o.β, &o.reach} {
		*table = vec.Grow(*table, size)
	}
	for t := range o.n {
		h, a, α, β, reach := o.row(o.h, t), o.row(o.a, t), o.row(o.α, t), o.row(o.β, t), o.row(o.reach, t)
		before := reach
		if t == 0 {
			clear(β)
		} else {
			before = o.row(o.reach, t-1)
			o.k.sumSteps(β, o.sum, o.row(o.α, t-1), o.transition, o.s.Labels)
			o.addLogs(β)
		}
		o.step(t, before, reach)
		add(h, β, o.begin)
		o.k.sumSegments(a, o.sum, o.h, o.length, reach, t, o.longest(t))
		o.addLogs(a)
		add(α, a, o.add)
		finite(a)
		finite(β)
	}
}

// addLogs adds the logarithms of sum to x.
func (o *Oracle) addLogs(x []float64) {
	for j, s := range o.sum {
		x[j] += math.Log(s)
	}
}

// finite replaces −∞, the logarithm of nothing, which is a divisor below.
func finite(x []float64) {
	for j, v := range x {
		if v == minusInf {
			x[j] = 0
		}
	}
}

// logSum returns log Σ exp(x).
func logSum(x []float64) float64 {
	m := x[argmax(x)]
	if m == minusInf {
		return m
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - m)
	}
	return m + math.Log(sum)
}

// marginals writes the marginals of example b, which are zero before.
func (o *Oracle) marginals(u *structured.Marginals, b int, logZ float64) {
	size, y, tags := o.n*o.stride, o.s.Labels, o.s.Tags
	for _, table := range []*[]float64{&o.ending, &o.starts} {
		*table = vec.Grow(*table, size)
		clear(*table)
	}
	o.lengths, o.edges = vec.Grow(o.lengths, len(o.length)), vec.Grow(o.edges, len(o.transition))
	clear(o.lengths)
	clear(o.edges)
	clear(o.inside)
	for j, v := range o.row(o.α, o.n-1) {
		o.row(o.ending, o.n-1)[j] = math.Exp(v - logZ)
	}
	nodes := u.Parts[0].Of(b)
	for t := o.n - 1; t >= 0; t-- {
		ending := o.row(o.ending, t)
		if t < o.n-1 {
			o.k.spreadSteps(ending, o.edges, o.row(o.α, t), o.transition, o.row(o.β, t+1), o.row(o.starts, t+1), y)
		}
		o.k.spreadSegments(o.starts, o.lengths, ending, o.h, o.length, o.row(o.a, t), o.row(o.reach, t), t, o.longest(t))
		for j, start := range o.row(o.starts, t)[:y] {
			nodes[t*tags+2*j] = float32(start)
			if o.inside[j] += ending[j] - start; !o.continues(t, j) {
				o.inside[j] = 0
			} else {
				o.inside[j] = max(o.inside[j], 0)
				nodes[t*tags+2*j+1] = float32(o.inside[j])
			}
		}
		if o.ends != nil {
			narrow(u.Parts[3].Of(b)[t*y:(t+1)*y], ending)
		}
	}
	for l := range o.s.Longest {
		narrow(u.Parts[1].Of(b)[l*y:(l+1)*y], o.row(o.lengths, l))
	}
	for from := range y {
		narrow(u.Parts[2].Of(b)[from*y:(from+1)*y], o.row(o.edges, from))
	}
}

func narrow(to []float32, from []float64) {
	for j := range to {
		to[j] = float32(from[j])
	}
}

// Rounding implements oracles.Rounder. All numbers of the recurrences are at most Σ_t (2·max|node_t| + max|end_t| + max|length| + max|transition|)
// in size, plus the logarithms of sums. On the way to a value a path meets at most 8 operations per position, and the sum of h over a segment
// has its prefix sums twice; each errs by 2⁻⁵³ of such a number. A sum of n exponentials errs by less than n + 16 units more. Max compares
// two paths.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	n := float64(θ.Outputs[b+1] - θ.Outputs[b])
	size := 0.0
	for k := range θ.Parts {
		p := &θ.Parts[k]
		x, times := p.Of(b), 1.0
		switch {
		case p.Offsets == nil:
			size += n * oracles.Largest(x)
			continue
		case k == 0:
			times = 2
		}
		for ; len(x) > 0; x = x[p.Width:] {
			size += times * oracles.Largest(x[:p.Width])
		}
	}
	const operations = 16 // per position
	if μ == 0 {
		return 2 * operations * oracles.Double * n * size
	}
	y, l := float64(len(θ.Parts[2].Values)), float64(len(θ.Parts[1].Values))
	logs := 2 * n * math.Log(1+y+l)
	return oracles.Double * (operations*n*(size+μ*logs) + μ*(n+1)*(2*(y+l)+64))
}
