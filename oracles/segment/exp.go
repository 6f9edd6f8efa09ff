package segment

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Exp sums over all segmentations, forwards. The marginals follow backwards, from the conditional distributions of what
// comes before: with the probability that a segment with label y ends at t, its length is l with probability
// exp(h_{t−l+1}(y) + length(l, y) − a_t(y)), and the label before one that starts at s is y' with probability
// exp(α_{s−1}(y') + transition(y', y) − β_s(y)).
func (o *Oracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	o.prepare(θ, 1/μ)
	o.weigh()
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
			value[b] = oracles.RefuseSums(u, b)
			continue
		}
		o.sums()
		logZ := logSum(o.row(o.α, o.n-1))
		value[b] = μ * (logZ + o.gold.constant)
		if u != nil && logZ > minusInf {
			o.marginals(u, b, logZ)
		}
	}
}

// leastSum is the least sum for which terms that underflow are negligible.
const leastSum = 1e-200

// weigh prepares the weights of transitions, E_{y'}(y) = exp(transition(y', y) − top_y), with the largest transition
// into y as top_y.
// Transitions that differ from position to position have none: they take as many exponentials as sums of logarithms.
func (o *Oracle) weigh() {
	if o.s.PerPosition {
		return
	}
	o.weight, o.top = vec.Grow(o.weight, len(o.transition)), vec.Grow(o.top, o.stride)
	o.w, o.rates = vec.Grow(o.w, o.stride), vec.Grow(o.rates, o.stride)
	o.k.bestSteps(o.top, o.zeros(), o.transition, o.s.Labels)
	for i := range o.s.Labels {
		weight := o.row(o.weight, i)
		for j, v := range o.row(o.transition, i) {
			if weight[j] = 0; v > minusInf {
				weight[j] = math.Exp(v - o.top[j])
			}
		}
	}
}

// zeros returns a row of zeros.
func (o *Oracle) zeros() []float64 {
	clear(o.sum)
	return o.sum
}

// steps sets β_t, and reports whether it did by weights: β_t(y) = m + top_y + log S_y with S_y = Σ_{y'} exp(α_{t−1}(y')
// − m)·E_{y'}(y), where m is the largest α. That costs Y exponentials instead of Y², but is wrong where S_y is tiny:
// then the sum is one of logarithms. o.sum holds S.
func (o *Oracle) steps(β, α []float64) bool {
	if m := α[argmax(α)]; m > minusInf && o.own == nil {
		o.k.exps(o.w, α, m)
		o.k.weigh(o.sum, o.w, o.weight, o.s.Labels)
		byWeights := true
		for j, s := range o.sum {
			byWeights = byWeights && (s >= leastSum || o.top[j] == minusInf)
			β[j] = m + o.top[j] + math.Log(s)
		}
		if byWeights {
			return true
		}
	}
	o.k.sumSteps(β, o.sum, α, o.transition, o.s.Labels)
	o.addLogs(β)
	return false
}

// sums computes h, a, α and reach of the open sequence, and, in β, the sums S of positions that are byWeights.
func (o *Oracle) sums() {
	size := o.n * o.stride
	for _, table := range []*[]float64{&o.h, &o.a, &o.α, &o.β, &o.reach} {
		*table = vec.Grow(*table, size)
	}
	o.byWeights = vec.Grow(o.byWeights, o.n)
	for t := range o.n {
		h, a, α, β, reach := o.row(o.h, t), o.row(o.a, t), o.row(o.α, t), o.row(o.β, t), o.row(o.reach, t)
		before := reach
		if o.byWeights[t] = false; t == 0 {
			clear(β)
		} else {
			before = o.row(o.reach, t-1)
			o.enter(t)
			o.byWeights[t] = o.steps(β, o.row(o.α, t-1))
		}
		o.step(t, before, reach)
		add(h, β, o.begin)
		if o.byWeights[t] {
			copy(β, o.sum)
		}
		o.swap(t)
		o.k.sumSegments(a, o.sum, o.h, o.lengthsAt(t), reach, t, o.longest(t))
		o.swap(t)
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
	y, tags := o.s.Labels, o.s.Tags
	o.starts, o.ending = vec.Grow(o.starts, o.n*o.stride), vec.Grow(o.ending, o.stride)
	clear(o.starts)
	if o.keepsEnds {
		o.allEnds = vec.Grow(o.allEnds, o.n*o.stride)
	}
	o.lengths, o.edges = vec.Grow(o.lengths, len(o.length)), vec.Grow(o.edges, len(o.transition))
	clear(o.lengths)
	clear(o.edges)
	clear(o.inside)
	for j, v := range o.row(o.α, o.n-1) {
		o.ending[j] = math.Exp(v - logZ)
	}
	// expected numbers of gold segments, and of wrong ones if the oracle is direct
	nodes, right, wrong := u.Parts[0].Of(b), 0.0, 0.0
	if o.direct {
		o.within = vec.Grow(o.within, o.n*o.stride)
		clear(o.within)
	}
	for t := o.n - 1; t >= 0; t-- {
		ending := o.ending
		if t < o.n-1 {
			clear(ending)
			o.enter(t + 1)
			o.spread(ending, o.row(o.α, t), t+1)
			if o.own != nil {
				o.keepEdges(u.Parts[2].Of(b)[(t+1)*y*y:])
				clear(o.edges)
			}
		}
		if o.keepsEnds {
			copy(o.row(o.allEnds, t), ending)
		}
		o.swap(t)
		length, ended := o.lengthsAt(t), o.lengths
		if o.whole != nil || o.direct {
			o.ended = vec.Grow(o.ended, len(o.length))
			ended = o.ended
			clear(ended)
		}
		right += o.goldProbability(t, ending, length)
		o.k.spreadSegments(o.starts, ended, ending, o.h, length, o.row(o.a, t), o.row(o.reach, t), t, o.longest(t))
		o.swap(t)
		if o.whole != nil {
			o.keepWhole(u.Parts[o.s.Whole].Of(b)[segments.Row(t, 1, o.s.Longest)*y:], o.longest(t))
		}
		if o.whole != nil || o.direct {
			for l := range o.longest(t) {
				add(o.row(o.lengths, l), o.row(o.lengths, l), o.row(o.ended, l))
			}
		}
		if o.direct {
			wrong += o.keepDirect(t)
		}
		for j, start := range o.row(o.starts, t)[:y] {
			nodes[t*tags+2*j] = float32(start)
			if o.direct {
				if 2*j+1 < tags {
					nodes[t*tags+2*j+1] = float32(o.within[t*o.stride+j])
				}
				continue
			}
			if o.inside[j] += ending[j] - start; !o.continues(t, j) {
				o.inside[j] = 0
			} else {
				o.inside[j] = max(o.inside[j], 0)
				nodes[t*tags+2*j+1] = float32(o.inside[j])
			}
		}
		if o.ends != nil {
			narrow(u.Parts[o.s.End].Of(b)[t*y:(t+1)*y], ending)
		}
	}
	for l := range o.s.Longest {
		narrow(u.Parts[1].Of(b)[l*y:(l+1)*y], o.row(o.lengths, l))
	}
	switch {
	case o.gold.known && o.direct:
		u.Parts[len(u.Parts)-1].Of(b)[0] = float32(wrong)
	case o.gold.known:
		u.Parts[len(u.Parts)-1].Of(b)[0] = o.expectedWrong(right)
	}
	if o.own == nil {
		o.keepEdges(u.Parts[2].Of(b))
	}
}

// keepEdges writes the marginals of transitions.
func (o *Oracle) keepEdges(to []float32) {
	y := o.s.Labels
	for from := range y {
		narrow(to[from*y:(from+1)*y], o.row(o.edges, from))
	}
}

// spread adds the probabilities of the segments that start at position s to edges, and to those of the labels before.
func (o *Oracle) spread(ending, α []float64, s int) {
	β, starts := o.row(o.β, s), o.row(o.starts, s)
	if !o.byWeights[s] {
		o.k.spreadSteps(ending, o.edges, α, o.transition, β, starts, o.s.Labels)
		return
	}
	o.k.exps(o.w, α, α[argmax(α)])
	for j, p := range starts {
		if o.rates[j] = 0; p > 0 {
			o.rates[j] = p / β[j]
		}
	}
	o.k.spreadWeights(ending, o.edges, o.w, o.weight, o.rates, o.s.Labels)
}

// keepWhole writes the marginals of the segments of up to so many positions that end at a position.
func (o *Oracle) keepWhole(to []float32, longest int) {
	y := o.s.Labels
	for l := range longest {
		narrow(to[l*y:(l+1)*y], o.row(o.ended, l))
	}
}

func narrow(to []float32, from []float64) {
	for j := range to {
		to[j] = float32(from[j])
	}
}

// Rounding implements oracles.Rounder. All numbers of the recurrences are at most Σ_t (2·max|node_t| + max|end_t| +
// max|length| + max|transition|) in size, and likewise max|segment_t| over all that end at t, plus the logarithms of
// sums. On the way to a value a path meets at most 10 operations per position, and the sum of h over a segment has its
// prefix sums twice; each errs by 2⁻⁵³ of such a number. A sum of n exponentials errs by less than n + 16 units more.
// Max compares two paths.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	positions := θ.Outputs[b+1] - θ.Outputs[b]
	n, size := float64(positions), 0.0
	for k := range θ.Parts {
		p := &θ.Parts[k]
		x, times := p.Of(b), 1.0
		switch {
		case p.Rows == structured.Examples:
			size += 2 * n * oracles.Largest(x) // no more segments can be wrong
			continue
		case p.Offsets == nil:
			size += n * oracles.Largest(x)
			continue
		case p.Rows == segments.Rows:
			longest := segments.ShapeOf(θ.Parts).Longest
			for t := range positions {
				size += oracles.Largest(x[segments.Row(t, 1, longest)*p.Width : segments.Row(t+1, 1, longest)*p.Width])
			}
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
	y, l := float64(θ.Parts[2].Width), float64(len(θ.Parts[1].Values))
	logs := 2 * n * math.Log(1+y+l)
	return oracles.Double * (operations*n*(size+μ*logs) + μ*(n+1)*(2*(y+l)+64))
}
