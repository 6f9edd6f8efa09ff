package train

import "github.com/dsp-go/dsp/structured/vec"

// lowerBound is the best lower bound on min F of a method that keeps a dual point in memory: the largest D that was recomposed
// from that, less what rounding may have added to it.
type lowerBound struct {
	value   float64
	rounded float64 // was taken off
	pass    int     // after which something was recomposed last
}

// take takes up what was recomposed after a pass, whose dual value has an entropy, too.
func (b *lowerBound) take(p *Problem, u Recomposed, entropy float64, pass int) {
	b.pass = pass
	square := vec.Norm2(u.Grad) / p.Lambda
	rounded := u.Rounded + p.allowance(entropy, gradientFactor*square)
	if d := p.AtCenter(u.Linear, u.Grad) + entropy - square/2 - rounded; d > b.value {
		b.value, b.rounded = d, rounded
	}
}

// show shows the bound, and the method's estimate of the dual since it was taken.
func (b *lowerBound) show(s *State, estimate float64) {
	s.Dual, s.Rounding, s.Estimate = b.value, b.rounded, estimate
}

func (b *lowerBound) archive(a Archive) {
	a.Number("bound", &b.value)
	a.Number("bound.rounding", &b.rounded)
}
