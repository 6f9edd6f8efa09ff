package oracles

import "github.com/dsp-go/dsp/structured"

// Oracle answers the three questions of inference on one kind of structure, for every member of a ragged batch. An
// oracle owns scratch memory: one a goroutine. Nothing allocates once the scratch has grown to the batch.
//
// Potentials may hold −∞. A chain none of whose outputs is allowed has value −∞ and zero marginals; a chain of length 0
// has the empty output, value 0.
type Oracle interface {
	// Structure names what the oracle runs on ("chain").
	Structure() string

	// Max finds the best output of every chain b: its labels y[Offsets[b]:Offsets[b+1]] and its score
	// value[b] = max_y ⟨θ, 1_y⟩ (Viterbi). Ties go to the smaller label, from the last position back.
	Max(θ *structured.Potentials, y []int32, value []float64)

	// TopK finds the min(k, number of allowed outputs) best outputs of every chain, best first.
	TopK(θ *structured.Potentials, k int, best *KBest)

	// Exp gives μ·log Σ_y exp(⟨θ,1_y⟩/μ) in value[b] and its gradient, the marginals of the Gibbs distribution at
	// temperature μ > 0, in u (resized to fit). A nil u asks for the values only.
	Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals)
}

// KBest holds up to K outputs of each of B chains with N positions in all.
type KBest struct {
	K      int
	Count  []int     // [B] how many there are, ≤ K
	Score  []float64 // [B×K] descending
	Labels []int32   // [K×N] output k labels position t of the batch with Labels[k*N+t]
	N      int
}

// Resize gives k-best lists the shape of a batch and reuses the arrays; their content is undefined.
func (kb *KBest) Resize(chains, positions, k int) {
	kb.K, kb.N = k, positions
	kb.Count = grow(kb.Count, chains)
	kb.Score = grow(kb.Score, chains*k)
	kb.Labels = grow(kb.Labels, k*positions)
}

// Output returns the labels of output k of the chain at positions lo to hi-1 of the batch.
func (kb *KBest) Output(k, lo, hi int) []int32 { return kb.Labels[k*kb.N+lo : k*kb.N+hi] }

func grow[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}
