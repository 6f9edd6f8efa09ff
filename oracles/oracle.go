package oracles

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// An oracle answers questions of inference about every example of a ragged batch. Which ones it can answer is seen from the
// interfaces that it has: all are Maximisers. An oracle owns scratch memory: one per goroutine. Nothing allocates once the
// scratch has grown to the batch.
//
// Potentials may hold −∞. An example none of whose outputs is allowed has value −∞ and zero marginals; an example without
// positions has the empty output, value 0.
type (
	// Maximiser finds the best outputs.
	Maximiser interface {
		// Max finds the best output of every example b, y[θ.Outputs[b]:θ.Outputs[b+1]], and its score value[b] = max_y ⟨θ, 1_y⟩.
		Max(θ *structured.Potentials, y []int32, value []float64)
	}

	// Ranker finds several best outputs.
	Ranker interface {
		Maximiser
		// TopK finds the min(k, number of allowed outputs) best outputs of every example, best first.
		TopK(θ *structured.Potentials, k int, best *KBest)
	}

	// Summer sums over all outputs.
	Summer interface {
		Maximiser
		// Exp gives μ·log Σ_y exp(⟨θ,1_y⟩/μ) in value[b] and its gradient, the marginals of the Gibbs distribution at
		// temperature μ > 0, in u (resized to fit). A nil u asks for the values only.
		Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals)
	}
)

// Oracle has all capabilities.
type Oracle interface {
	Ranker
	Summer
}

// KBest holds up to K outputs of each of B examples.
type KBest struct {
	K      int
	Count  []int     // [B] how many there are, ≤ K
	Score  []float64 // [B×K] descending
	Values []int32   // [K×N] outputs, N the length of all examples' outputs together: output k holds Values[k*N:(k+1)*N]
	N      int
}

// Resize gives k-best lists the shape of a batch and reuses the arrays; their content is undefined.
func (kb *KBest) Resize(θ *structured.Potentials, k int) {
	kb.K, kb.N = k, θ.OutputSize()
	kb.Count = vec.Grow(kb.Count, θ.Len())
	kb.Score = vec.Grow(kb.Score, θ.Len()*k)
	kb.Values = vec.Grow(kb.Values, k*kb.N)
}

// Output returns what output k has at places lo to hi-1 of the batch's outputs.
func (kb *KBest) Output(k, lo, hi int) []int32 { return kb.Values[k*kb.N+lo : k*kb.N+hi] }
