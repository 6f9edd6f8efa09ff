package matching

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

var _ oracles.Rounder = (*Oracle)(nil)

// Rounding implements oracles.Rounder. Costs are exact, and prices are float64. The matching found is best for costs
// that differ from these by the rounding of reduced costs: each of at most n+3 searches moves a price, which stays
// within the range of n costs, by sums of at most n+3 numbers of that size.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	n := float64(θ.Outputs[b+1] - θ.Outputs[b])
	largest := 0.0
	for k := range θ.Parts {
		largest = max(largest, oracles.Largest(θ.Parts[k].Of(b)))
	}
	return 16 * oracles.Double * (n + 1) * (n + 3) * (n + 3) * largest
}
