// Package oracles does inference: given potentials θ it finds best outputs, smoothed maxima and marginals.
//
// An oracle serves one structure and implements Maximiser, and as far as the structure allows Ranker and Summer. One
// whose answers may be bounds implements Relaxed. Smoothing turns the answers (max, top-K, exp) into the value and the
// marginals that learning needs. Every file holds one algorithm, and every oracle passes one contract suite against
// enumeration (package oracletest).
package oracles

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// An oracle answers inference queries about every example of a ragged batch. The interfaces that it implements show
// which ones; every oracle is a Maximiser. An oracle owns scratch memory, so use one per goroutine. It does not
// allocate once the scratch memory has grown to the batch.
//
// Potentials may be −∞. An example without an allowed output has value −∞ and zero marginals; an example without
// positions has the empty output, with value 0. Other values are finite.
//
// Potentials that are NaN, +∞ or beyond ±structured.MostPotential are errors of the scorer. An example that has any
// gets the value NaN, zeros for its output, one output with the score NaN from TopK, NaN for max-marginals and its
// bound, and marginals that are NaN; a finite value is possible where all of them are finite, and from Max and TopK of
// chains with edges per position, if the wrong edges are on no best output. No call panics or hangs. A caller looks for
// NaN in the values.
//
// Large negative potentials in place of −∞ do not blur outputs without them, whatever their size. Outputs that all have
// some differ by what float64 holds beside them.
type (
	// Maximiser finds the best outputs.
	Maximiser interface {
		// Max finds the best output of every example b, y[θ.Outputs[b]:θ.Outputs[b+1]], and its score value[b] = max_y
		// ⟨θ, 1_y⟩.
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
		// Exp computes μ·log Σ_y exp(⟨θ,1_y⟩/μ) in value[b] and its gradient in u (resized to fit): the marginals of
		// the Gibbs distribution at temperature μ > 0. A nil u skips the marginals.
		Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals)
	}

	// Gapped is a Summer whose sums are bounds R(θ) = max_u ⟨θ, u⟩ + μH(u) of sums over outputs, with a concave H over
	// an outer bound of the marginal polytope, and whose marginals u need not be the best ones.
	Gapped interface {
		Summer
		// SumGap returns D ≥ 0 for example b of the latest call of Exp with marginals: value[b] ≥ R(θ) ≥ value[b] − D =
		// ⟨θ, u⟩ + μH(u). It is +∞ if that is known of no D.
		SumGap(b int) float64
	}

	// Proper is a Summer whose marginals are, but for rounding the result of a few operations to float32, those of a
	// distribution over outputs, however many positions there are and however large potentials. By how much the
	// probabilities of outputs differ from those of Gibbs, Rounding bounds.
	Proper interface {
		Summer
		// Proper reports whether that holds of example b of θ at temperature μ.
		Proper(θ *structured.Potentials, b int, μ float64) bool
	}

	// Relaxed is a Maximiser whose answers may come from an outer bound of the marginal polytope, or from a search that
	// was cut short. The value of Max is then an upper bound of max_y ⟨θ, 1_y⟩, and y some good output whose score may
	// be lower. The objective that is computed with such values is an upper bound of the objective, and the value of a
	// dual point, which is made of outputs and their scores, still a lower bound of its optimum.
	Relaxed interface {
		Maximiser
		// Relaxed returns in what way answers may be inexact, as part of a sentence, or "" if this oracle's are all
		// exact.
		Relaxed() string
		// Bound returns, for example b of the latest call of Max or TopK, an upper bound of max_y ⟨θ, 1_y⟩, and whether
		// that call's outputs are proven to be the best.
		Bound(b int) (upper float64, exact bool)
	}
)

// SumGap returns what Gapped.SumGap says of an oracle's latest call of Exp; 0 for one whose sums are exact.
func SumGap(o Maximiser, b int) float64 {
	if g, ok := o.(Gapped); ok {
		return g.SumGap(b)
	}
	return 0
}

// Oracle combines all capabilities.
type Oracle interface {
	Ranker
	Summer
}

// KBest holds up to K outputs of each of B examples.
type KBest struct {
	K      int
	Count  []int     // [B] number of outputs, ≤ K
	Score  []float64 // [B×K] descending
	Values []int32   // [K×N] outputs, N the total length of all examples' outputs: output k is Values[k*N:(k+1)*N]
	N      int
}

// Resize gives kb the shape of a batch and reuses its memory. The values are undefined.
func (kb *KBest) Resize(θ *structured.Potentials, k int) {
	kb.K, kb.N = k, θ.OutputSize()
	kb.Count = vec.Grow(kb.Count, θ.Len())
	kb.Score = vec.Grow(kb.Score, θ.Len()*k)
	kb.Values = vec.Grow(kb.Values, k*kb.N)
}

// Output returns places lo to hi-1, among the batch's outputs, of the k-th best output.
func (kb *KBest) Output(k, lo, hi int) []int32 { return kb.Values[k*kb.N+lo : k*kb.N+hi] }

// Place sets the score of the latest output k of example b, places lo to hi-1 among the batch's outputs, and moves it
// before those that score less. An oracle ranks outputs by sums in another order than that of scores, or in float32, so
// outputs that nearly tie may come in the wrong order.
func (kb *KBest) Place(b, k, lo, hi int, score float64) {
	scores := kb.Score[b*kb.K : (b+1)*kb.K]
	scores[k] = score
	for ; k > 0 && scores[k] > scores[k-1]; k-- {
		scores[k], scores[k-1] = scores[k-1], scores[k]
		x, y := kb.Output(k, lo, hi), kb.Output(k-1, lo, hi)
		for i := range x {
			x[i], y[i] = y[i], x[i]
		}
	}
}
