package engine

import (
	"math"

	"github.com/dsp-go/dsp/structured/vec"
)

// What rounding may bring into a certificate. A gap is a difference of close numbers, F(w) − D(u). In its terms
//
//	F(w) = (1/n) Σ c_i [h_i − ⟨1_{y_i},θ_i⟩] + (λ/2)‖w−c‖² + constant,
//	D(u) = (1/n) Σ c_i [⟨u_i,θ_i+ℓ_i⟩ + H(u_i) − ⟨1_{y_i},θ_i⟩] − ⟨g,w⟩ + ⟨g,c⟩ − ‖g‖²/2λ + constant,
//
// sums are taken in float64 and exact to what matters here. What is rounded to float32, with a relative error of at most
// ε = 2⁻²⁴ for each operation, is:
//
//   - potentials θ_i, and the oracle's recurrences over them (a path of the max may be missed for one that scores less, by
//     the rounding of the recurrence): errors relative to the scores h_i and ⟨1_{y_i},θ_i⟩, not to their difference, the loss;
//   - marginals u_i, which shift ⟨u_i,θ_i+ℓ_i⟩ and H(u_i) relative to scores, too;
//   - the gradient g = (1/n) Σ c_i J_iᵀ(u_i − 1_{y_i}) + δ: D changes by ⟨δ, c − g/λ − w⟩ to first order, an error relative to
//     ⟨g,w⟩, ⟨g,c⟩ and ‖g‖²/λ, and to none of them near the optimum, where c − g/λ = w;
//   - 1/λ, and so the length of w = c − g/λ, where a method makes its weights of g: relative to (λ/2)‖w−c‖².
//
// Errors of the many operations behind such a number are of both signs and grow like a random walk, while over examples,
// positions and coordinates they cancel as well: together they stay within a small multiple of ε of the sum of these
// magnitudes. Float64 references, and the gaps of methods that have converged, show less than one. The allowance is two.
const (
	Unit  = 1. / (1 << 24)
	units = 2

	// What the gradient enters counts more: an entry is the sum of more roundings than a score, and few of them cancel.
	GradientFactor = 4
)

// deviceScores is how many times the losses, linear parts and products with w are taken in place of scores on a device, which
// does not add scores up.
const deviceScores = 16

// rounder is an accelerator that rounds to fewer digits than float32 has.
type rounder interface {
	// Unit returns the largest relative error of a rounded operation.
	Unit() float64
}

// Allowance returns what rounding may have brought into the difference between F and a bound, for magnitudes that enter it.
func (e *Engine) Allowance(magnitudes ...float64) float64 {
	ε := Unit
	if device, ok := e.device.(rounder); ok {
		ε = device.Unit()
	}
	total := 0.0
	for _, m := range magnitudes {
		total += math.Abs(m)
	}
	return units * ε * total
}

// linearRounding is the allowance for all terms of F(w) and D(u) but ‖g‖²/2λ, for sums over examples taken at w and the
// gradient g that came of them.
func (e *Engine) linearRounding(w, g []float32, sums Sums) float64 {
	inv := 1 / float64(e.Len())
	product, scores := vec.Dot64(g, w), sums.Scores*inv
	if e.device != nil {
		scores = deviceScores * (math.Abs(sums.Primal)*inv + math.Abs(sums.Linear)*inv + math.Abs(product))
	}
	center := 0.0
	if e.Center != nil {
		center = vec.Dot64(g, e.Center)
	}
	return e.Allowance(scores, sums.Linear*inv, sums.Entropy*inv, GradientFactor*product, GradientFactor*center,
		e.regulariser(w)-e.Constant, e.Constant)
}
