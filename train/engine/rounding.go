package engine

import (
	"math"

	"github.com/dsp-go/dsp/structured/vec"
)

// Rounding errors in a certificate. A gap is a difference of close numbers, F(w) − D(u). In its terms
//
//	F(w) = (1/n) Σ c_i [h_i − ⟨1_{y_i},θ_i⟩] + (λ/2)‖w−c‖² + constant,
//	D(u) = (1/n) Σ c_i [⟨u_i,θ_i+ℓ_i⟩ + H(u_i) − ⟨1_{y_i},θ_i⟩] − ⟨g,w⟩ + ⟨g,c⟩ − ‖g‖²/2λ + constant,
//
// sums are taken in float64 and are exact for our purposes. These are rounded to float32, with a relative error of at most
// ε = 2⁻²⁴ per operation:
//
//   - potentials θ_i, and the oracle's recurrences over them (rounding in the recurrence may make the max pick a path with
//     a lower score): the errors are relative to the scores h_i and ⟨1_{y_i},θ_i⟩, not to their difference, the loss;
//   - marginals u_i, whose errors shift ⟨u_i,θ_i+ℓ_i⟩ and H(u_i), also relative to scores;
//   - the gradient g = (1/n) Σ c_i J_iᵀ(u_i − 1_{y_i}) + δ: D changes by ⟨δ, c − g/λ − w⟩ to first order, an error relative to
//     ⟨g,w⟩, ⟨g,c⟩ and ‖g‖²/λ, and to none of them near the optimum, where c − g/λ = w;
//   - 1/λ, and so the length of w = c − g/λ if a method computes its weights from g: relative to (λ/2)‖w−c‖².
//
// Each such number comes from many operations, whose errors have both signs and grow like a random walk. They also cancel over
// examples, positions and coordinates. Together they stay within a small multiple of ε times the sum of these magnitudes.
// Float64 references, and the gaps of converged methods, show a multiple below one. The allowance is two.
const (
	Unit  = 1. / (1 << 24)
	units = 2

	// Terms with the gradient count more: an entry is the sum of more roundings than a score, and few of them cancel.
	GradientFactor = 4
)

// Allowance returns the allowance for rounding in the difference between F and a bound, given the magnitudes in it.
func (e *Engine) Allowance(magnitudes ...float64) float64 {
	total := 0.0
	for _, m := range magnitudes {
		total += math.Abs(m)
	}
	return units * e.backend.unit() * total
}

// linearRounding is the allowance for all terms of F(w) and D(u) except ‖g‖²/2λ. The sums over examples were taken at w, and
// g is the gradient computed from them.
func (e *Engine) linearRounding(w, g []float32, sums Sums) float64 {
	inv := 1 / float64(e.Len())
	product := vec.Dot64(g, w)
	center := 0.0
	if e.Center != nil {
		center = vec.Dot64(g, e.Center)
	}
	return e.Allowance(e.backend.scores(sums, product), sums.Linear*inv, sums.Entropy*inv, GradientFactor*product, GradientFactor*center,
		e.regulariser(w)-e.Constant, e.Constant)
}
