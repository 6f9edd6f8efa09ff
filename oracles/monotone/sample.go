package monotone

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// Sample implements oracles.Sampler. It sums forwards once and draws the steps of paths backwards.
func (o *Oracle) Sample(θ *structured.Potentials, μ float64, n int, seed []uint64, to *oracles.Samples) {
	o.guard.Begin(θ)
	to.Resize(θ, n)
	var draws oracles.Draws
	for b := range θ.Len() {
		if θ.Outputs[b] == θ.Outputs[b+1] {
			continue
		}
		to.Count[b] = 0
		if !o.open(θ, b) {
			continue
		}
		if o.sum(1 / μ); o.sums.e[o.total()] == minusInf {
			continue
		}
		draws.Seed(seed[b])
		for k := range n {
			o.draw(to.Output(k, θ.Outputs[b], θ.Outputs[b+1]), &draws)
		}
		to.Count[b] = n
	}
}

// draw draws a path of the open example.
func (o *Oracle) draw(y []int32, r *oracles.Draws) {
	clear(y)
	for i, j := o.n-1, o.m-1; ; {
		d := i + j
		y[d] = int32(i) + 1
		if d == 0 {
			return
		}
		two := o.never
		if d > 1 {
			two = o.sums.row(d-2, o.stride)
		}
		right, below, across, _ := predecessors(o.sums.row(d-1, o.stride), two, o.byDown, o.byDiag, lanes+i)
		i, j = before(i, j, oracles.Pick([]float64{right, below, across}, r.Uniform()*(right+below+across)))
	}
}
