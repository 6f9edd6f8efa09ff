package reweighted

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

var _ oracles.Rounder = (*Oracle)(nil)

// Rounding implements oracles.Rounder. Forests are those of exact.Oracle. Bounds of graphs with loops are float64 sums
// over variables, edges and messages, which the passes keep within the range of the potentials: 64 units for each
// variable and edge, and for Exp each label, of the sum of the largest potentials. This is an allowance, not a theorem
// about the number of passes.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	o.example.read(θ, b, oracles.NoMasks)
	if o.example.forest() {
		return o.exact.Rounding(θ, b, μ)
	}
	return o.rounding(μ)
}

// rounding is Rounding for a graph with loops, which is read.
func (o *Oracle) rounding(μ float64) float64 {
	n := float64(o.example.n + len(o.example.links))
	size := o.example.magnitude()
	if μ > 0 {
		size += μ * n * math.Log(float64(o.example.y+1))
		n *= float64(o.example.y)
	}
	return 64 * n * oracles.Double * size
}
