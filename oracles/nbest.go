package oracles

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// NBest are the best outputs of every chain of a batch with their probabilities among all outputs, under the Gibbs
// distribution p(y) = exp(⟨θ,1_y⟩ − log Z).
type NBest struct {
	KBest
	LogZ []float64 // [B]
}

// Find fills nb with the min(n, number of allowed outputs) best outputs of every chain.
func (nb *NBest) Find(o Oracle, θ *structured.Potentials, n int) {
	nb.LogZ = vec.Grow(nb.LogZ, θ.Len())
	o.TopK(θ, n, &nb.KBest)
	o.Exp(θ, 1, nb.LogZ, nil)
}

// Probability returns p of output k of chain b.
func (nb *NBest) Probability(b, k int) float64 {
	return math.Exp(nb.Score[b*nb.K+k] - nb.LogZ[b])
}
