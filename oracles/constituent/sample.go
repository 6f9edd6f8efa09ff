package constituent

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Sample implements oracles.Sampler. It sums once, from short spans to long ones, and draws every tree from the top:
// the label of a span, and the word behind which it is divided.
func (o *Oracle) Sample(θ *structured.Potentials, μ float64, n int, seed []uint64, to *oracles.Samples) {
	o.guard.Begin(θ)
	to.Resize(θ, n)
	var draws oracles.Draws
	for b := range θ.Len() {
		if θ.Outputs[b] == θ.Outputs[b+1] {
			continue
		}
		if !o.open(θ, b, 1/μ) {
			to.Count[b] = 0
			continue
		}
		o.sums()
		all := o.n - 1
		if logZ := o.inside[all] + float64(o.span[all])*o.rate + o.root(all); logZ == minusInf {
			to.Count[b] = 0
			continue
		}
		o.drawn = vec.Grow(o.drawn, max(o.n, o.width))
		draws.Seed(seed[b])
		for k := range n {
			y := to.Output(k, θ.Outputs[b], θ.Outputs[b+1])
			clear(y)
			o.draw(y, 0, all, 1, &draws)
		}
	}
}

// draw draws the tree over words i to j, whose label is at least least.
func (o *Oracle) draw(y []int32, i, j, least int, r *oracles.Draws) {
	row := i*o.n + j
	x := o.drawn[:o.width-least]
	for k, l := range o.labels(row)[least:] {
		x[k] = float64(l) * o.rate
	}
	y[row] = int32(least + pick(x, r))
	if i == j {
		return
	}
	left, right := o.splits(i, j)
	x = o.drawn[:len(left)]
	for k, l := range left {
		x[k] = l + right[k]
	}
	k := i + pick(x, r)
	o.draw(y, i, k, 0, r)
	o.draw(y, k+1, j, leastRight(k+1, j), r)
}

// pick draws an index with probabilities proportional to exp(x), which it overwrites.
func pick(x []float64, r *oracles.Draws) int {
	top, sum := minusInf, 0.0
	for _, v := range x {
		top = math.Max(top, v)
	}
	for k, v := range x {
		x[k] = exp(v - top)
		sum += x[k]
	}
	return oracles.Pick(x, r.Uniform()*sum)
}
