package chain

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

var (
	_ oracles.Proper = (*Oracle)(nil)
	_ oracles.Proper = (*Second)(nil)
)

// Proper implements oracles.Proper. Marginals of a chain are those of a distribution if they are not negative and those
// of each step sum to those of its ends, and they do but for the roundings of a few operations, for nothing accumulates
// along a chain:
//
//   - In scaledSums, Σ_i α_{t−1}(i) E(i,j) g_t(j) is s_t(j) g_t(j), the marginal of the step's end. Its beginning has α_{t−1}(i) β(i) with β = E g_t, where the marginal is
//     s_{t−1}(i) g_{t−1}(i) = s_{t−1}(i) n_{t−1}(i) β(i)/z = α_{t−1}(i) β(i) c/z. Both sum to 1 over labels, so that c = z.
//   - logSums spreads the marginals of each position by probabilities that sum to 1, since its b are as exact as the sums that they are compared with. That needs
//     logarithms of up to Y·weightLimit to count beside scores.
func (c *Oracle) Proper(θ *structured.Potentials, b int, μ float64) bool {
	return oracles.Magnitude(θ, b)/μ < mostProper
}

// mostProper is a score over μ of which 2⁻⁵³ is still far less than a logarithm of a sum.
const mostProper = 1 << 45

// Proper implements oracles.Proper. Marginals are those of the chain of states, whatever their labels are, and sums of
// them.
func (c *Second) Proper(θ *structured.Potentials, b int, μ float64) bool {
	return oracles.Magnitude(θ, b)/μ < mostProper
}
