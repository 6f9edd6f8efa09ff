package train

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/engine"
)

// LowerBound is the best lower bound on min F of a method that keeps a dual point in memory: the largest D recomposed
// from the memory, minus an allowance for rounding.
type LowerBound struct {
	Value   float64 // the bound
	Rounded float64 // the allowance subtracted
	Pass    int     // the pass after the last recomposition
}

// Entropy is the mean entropy of a dual point, (1/n) Σ c_i H(u_i), with a bound on its rounding error.
type Entropy struct {
	Value, Error float64

	// Mixed returns the mean entropy of the mixtures 1_{y_i} + s(u_i − 1_{y_i}), with the same bound. It is at least
	// s·Value, and almost Value where s is almost 1 and the gold outputs are likely. nil: only s·Value is known.
	Mixed func(ctx context.Context, s float64) (float64, error)
}

// Recompose pulls back a method's dual point after a pass and records its bound, for a dual value that includes an
// entropy. The scorer runs at the weights w.
func (b *LowerBound) Recompose(ctx context.Context, p *Problem, s *State, w []float32, of engine.DualPoint, entropy Entropy, pass int) (engine.Recomposed, error) {
	u, err := p.Recompose(ctx, w, of)
	if err != nil {
		return u, err
	}
	s.FullPasses++
	b.Record(p, u, entropy, pass)
	if p.L1 > 0 && p.Lambda == 0 && entropy.Mixed != nil {
		err = b.recordMixed(ctx, p, u, entropy)
	}
	return u, err
}

// recordMixed records the bound of the mixture with the gold outputs that is feasible with λ = 0, from its own entropy.
func (b *LowerBound) recordMixed(ctx context.Context, p *Problem, u engine.Recomposed, entropy Entropy) error {
	share := p.FeasibleShare(u.Grad)
	h, err := entropy.Mixed(ctx, share)
	if err != nil {
		return err
	}
	a := share*u.Linear + h
	rounded := u.Rounded + entropy.Error + p.GradientAllowance(math.Abs(a)*math.Sqrt(float64(p.Data.Positions())))
	if d := a + p.Constant - rounded; d > b.Value {
		b.Value, b.Rounded = d, rounded
	}
	return nil
}

// Certify does what Certifier asks of a method: it shows a bound of the dual point after the given pass, and its
// estimate. recompose records that bound in b; it is called unless b has it already.
func (b *LowerBound) Certify(s *State, pass int, estimate float64, keep bool, recompose func() error) error {
	bound, passes := *b, s.FullPasses
	if b.Pass < pass {
		if err := recompose(); err != nil {
			return err
		}
	}
	b.Show(s, estimate)
	if !keep {
		*b, s.FullPasses = bound, passes
	}
	return nil
}

// Record records a point recomposed after a pass. The dual value includes an entropy.
func (b *LowerBound) Record(p *Problem, u engine.Recomposed, entropy Entropy, pass int) {
	b.Pass = pass
	if !p.Plain() {
		b.recordElastic(p, u, entropy)
		return
	}
	square := vec.Norm2(u.Grad)
	rounded := u.Rounded + entropy.Error + p.PlainAllowance(u, square)
	if d := u.Central + p.Constant + entropy.Value - square/p.Lambda/2 - rounded; d > b.Value {
		b.Value, b.Rounded = d, rounded
	}
}

// Meet records the bound of a dual point that a pass has met at its own weights (engine.Met), if that is of use: if a
// gradient would save little of the gap.
func (b *LowerBound) Meet(p *Problem, met engine.Met, entropy Entropy, drift, gap float64, pass int) bool {
	d, rounded, far := p.Bound(met, entropy.Value, entropy.Error, drift)
	if !(far <= MostFar*gap) {
		return false
	}
	if b.Pass = pass; d > b.Value {
		b.Value, b.Rounded = d, rounded
	}
	return true
}

// MostFar is the largest share of the gap that a bound without a gradient may charge for that.
const MostFar = 1. / 8

// recordElastic is Record with λ₁ > 0 or bounds.
func (b *LowerBound) recordElastic(p *Problem, u engine.Recomposed, entropy Entropy) {
	d, of := p.ElasticBound(u.Linear+entropy.Value, u.Grad)
	rounded := u.Rounded + entropy.Error + p.ElasticAllowance(of)
	if d -= rounded; d > b.Value {
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
