package choice

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Sample implements oracles.Sampler, in O(C) for each draw.
func (o *Oracle) Sample(θ *structured.Potentials, μ float64, n int, seed []uint64, to *oracles.Samples) {
	to.Resize(θ, n)
	o.sums = vec.Grow(o.sums, θ.Len())
	o.Exp(θ, μ, o.sums, &o.u)
	var draws oracles.Draws
	for b := range θ.Len() {
		if _, some := candidates(θ, b); !some {
			continue
		}
		draws.Seed(seed[b])
		shares := o.u.Parts[0].Of(b)
		for k := range n {
			at := oracles.Pick(shares, draws.Uniform())
			if at < 0 {
				to.Count[b] = 0
				break
			}
			to.Output(k, θ.Outputs[b], θ.Outputs[b+1])[0] = int32(at)
		}
	}
}
