package cut

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

var _ oracles.Rounder = (*Oracle)(nil)

// Rounding implements oracles.Rounder: 16 units for each variable and edge, of the sum of all potentials. Scores are sums in float64, and Bound
// is below the best one by no more than that.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	n := θ.Outputs[b+1] - θ.Outputs[b] + len(θ.Graphs[b].Ends)
	return 16 * float64(n) * oracles.Double * oracles.Magnitude(θ, b)
}
