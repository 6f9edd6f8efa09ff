package cut

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

var _ oracles.Rounder = (*Oracle)(nil)

// Rounding implements oracles.Rounder: 16 units of float64 for each variable and edge, of the sum of the largest
// potentials. Scores are sums in float64. An augmenting path errs by a unit of each capacity on its way; 16 allows for
// as many paths through an arc. This is an allowance, not a theorem about the number of paths; with potentials that are
// multiples of a power of two, of sums below 2⁵³ times it, nothing is rounded.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	n := θ.Outputs[b+1] - θ.Outputs[b] + len(θ.Graphs[b].Ends)
	return 16 * float64(n) * oracles.Double * oracles.Magnitude(θ, b)
}
