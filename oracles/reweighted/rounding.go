package reweighted

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

var _ oracles.Rounder = (*Oracle)(nil)

// Rounding implements oracles.Rounder: 64 units for each variable, edge and label, of the sum of the largest potentials. Bounds are below
// the best score, or the sum over all labelings, by no more than that. Forests are those of graph.Oracle.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	o.example.read(θ, b)
	if o.example.forest() {
		return o.exact.Rounding(θ, b, μ)
	}
	n := float64(o.example.n + len(o.example.links))
	size := oracles.Magnitude(θ, b)
	if μ > 0 {
		size += μ * n * math.Log(float64(o.example.y+1))
		n *= float64(o.example.y)
	}
	return 64 * n * oracles.Double * size
}
