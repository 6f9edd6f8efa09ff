package train

import (
	"github.com/dsp-go/dsp/structured/vec"
	"github.com/dsp-go/dsp/train/engine"
)

// LowerBound is the best lower bound on min F of a method that keeps a dual point in memory: the largest D recomposed from the
// memory, minus an allowance for rounding.
type LowerBound struct {
	Value   float64 // the bound
	Rounded float64 // the allowance subtracted
	Pass    int     // the pass after the last recomposition
}

// Record records a point recomposed after a pass. The dual value includes an entropy.
func (b *LowerBound) Record(p *Problem, u engine.Recomposed, entropy float64, pass int) {
	b.Pass = pass
	square := vec.Norm2(u.Grad) / p.Lambda
	rounded := u.Rounded + p.Allowance(entropy, engine.GradientFactor*square)
	if d := p.AtCenter(u.Linear, u.Grad) + entropy - square/2 - rounded; d > b.Value {
		b.Value, b.Rounded = d, rounded
	}
}

// Show shows the bound in s, and the method's estimate of the dual since the bound was computed.
func (b *LowerBound) Show(s *State, estimate float64) {
	s.Dual, s.Rounding, s.Estimate = b.Value, b.Rounded, estimate
}

// Archive saves or restores the bound, but not Pass.
func (b *LowerBound) Archive(a engine.Archive) {
	a.Number("bound", &b.Value)
	a.Number("bound.rounding", &b.Rounded)
}
