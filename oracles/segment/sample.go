package segment

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Sample implements oracles.Sampler. It sums forwards once and draws backwards: the label of the last segment, its
// length, the label of the one before it, and so on.
func (o *Oracle) Sample(θ *structured.Potentials, μ float64, n int, seed []uint64, to *oracles.Samples) {
	o.prepare(θ, 1/μ)
	o.weigh()
	to.Resize(θ, n)
	o.drawn = vec.Grow(o.drawn, max(o.s.Labels, o.s.Longest))
	var draws oracles.Draws
	for b := range θ.Len() {
		if θ.Outputs[b] == θ.Outputs[b+1] {
			continue
		}
		if !o.open(θ, b) {
			to.Count[b] = 0
			continue
		}
		if o.sums(); logSum(o.row(o.α, o.n-1)) == minusInf {
			to.Count[b] = 0
			continue
		}
		draws.Seed(seed[b])
		for k := range n {
			o.draw(to.Output(k, θ.Outputs[b], θ.Outputs[b+1]), &draws)
		}
	}
}

// draw draws the segments of the open sequence.
func (o *Oracle) draw(tags []int32, r *oracles.Draws) {
	labels := o.drawn[:o.s.Labels]
	copy(labels, o.row(o.α, o.n-1)[:len(labels)])
	for t, y := o.n-1, o.pick(labels, r); ; {
		lengths := o.drawn[:min(o.longest(t), int(o.row(o.reach, t)[y]))]
		for l := range lengths {
			lengths[l] = o.h[(t-l)*o.stride+y] + o.lengthScore(t, l+1, y)
		}
		first := t - o.pick(lengths, r)
		write(tags[first:t+1], y)
		if first == 0 {
			return
		}
		t = first - 1
		for from, α := range o.row(o.α, t)[:o.s.Labels] {
			labels[from] = α + o.stepScore(first, from, y)
		}
		y = o.pick(labels, r)
	}
}

// pick draws an index with probabilities proportional to exp(x), which it overwrites.
func (o *Oracle) pick(x []float64, r *oracles.Draws) int {
	top, sum := x[argmax(x)], 0.0
	for k, v := range x {
		x[k] = exp(v - top)
		sum += x[k]
	}
	return oracles.Pick(x, r.Uniform()*sum)
}
