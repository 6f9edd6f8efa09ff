package oracles

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// DoubleSummer is a Summer that also sums potentials in float64, with bounds on what it rounds. Certificates that
// float32 would blur ask it.
type DoubleSummer interface {
	Summer
	// ExpDoubly sets a to the answers at temperature 1 for potentials x in float64, which are −∞ or within
	// ±structured.MostPotential. θ has their layout; its numbers are not read. Without marginals it leaves a.U as it
	// is.
	ExpDoubly(θ *structured.Potentials, x structured.Doubles, marginals bool, a *DoubleAnswer)
}

// DoubleAnswer is what a DoubleSummer answers for each example of a batch.
type DoubleAnswer struct {
	Value []float64          // [B] log Σ_y exp⟨x, 1_y⟩
	U     structured.Doubles // its gradient, laid out as marginals

	// Bounds on rounding errors. They are +∞ where float64 does not hold the sums over outputs.
	Error []float64 // [B] of Value
	Noise []float64 // [B] of each entry of U, relative to it
	Size  []float64 // [B] no output's Σ|x| over its entries is more
}

// Resize makes room for the answers, except U, for a number of examples.
func (a *DoubleAnswer) Resize(examples int) {
	for _, s := range []*[]float64{&a.Value, &a.Error, &a.Noise, &a.Size} {
		*s = vec.Grow(*s, examples)
	}
}
