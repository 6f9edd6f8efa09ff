package choice

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

var _ oracles.Rounder = (*Oracle)(nil)

// Rounding implements oracles.Rounder. Max compares and does not compute. Exp adds, in float64, exponentials in
// float32. Each errs by at most 4 units, and by 3 units of its exponent: the difference of scores, its product with
// 1/μ, and 1/μ itself. The mean exponent, over candidates in proportion to their shares, is at most log C; shares below
// exp(−87) are lost.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	scores, some := candidates(θ, b)
	if !some || μ <= 0 {
		return 0
	}
	n := float64(len(scores))
	return μ*(oracles.Single*(4+3.01*math.Log(n))+n*(1e-37+2*oracles.Double)) + 4*oracles.Double*oracles.Largest(scores)
}
