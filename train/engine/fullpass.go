package engine

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/vec"
)

// FullPass is the result of one pass over all examples at fixed weights w.
type FullPass struct {
	Primal   float64   // F(w), regulariser included
	Smoothed float64   // F_μ(w), regulariser included
	Grad     []float32 // g = (1/n) Σ c_i J_iᵀ(u_i − 1_{y_i}) [Dim]: the gradient of F_μ minus the regulariser's
	Exact    float64   // fraction of exact top-K answers

	// Linear is the part of the dual value that does not depend on w, for an affine scorer θ_i = a_i + J_i w:
	// (1/n) Σ c_i [⟨u_i, a_i + ℓ_i⟩ + H(u_i) − ⟨1_{y_i}, a_i⟩], where H is the entropy for log-sum-exp losses and 0
	// for the hinge. See certificate.go.
	Linear float64

	Rounded float64 // allowance for rounding in the difference between F(w) and a bound that is linear in g (rounding.go)
}

// FullPass evaluates the objective, and the gradient of the smoothed objective, at w. Unless memory is nil it stores the
// marginals u_i there. Full passes are counted separately from a method's oracle calls.
func (e *Engine) FullPass(ctx context.Context, w []float32, s oracles.Smoothing, memory *Memory) (*FullPass, error) {
	g := make([]float32, len(w))
	total, err := e.backend.fullPass(ctx, w, s, memory, g)
	if err != nil {
		return nil, err
	}
	inv := 1 / float64(e.Len())
	vec.Scale(float32(inv), g)
	r := e.regulariser(w)
	return &FullPass{
		Primal:   total.Primal*inv + r,
		Smoothed: total.Smoothed*inv + r,
		Grad:     g,
		Exact:    float64(total.Exact) * inv,
		Linear:   (total.Linear+total.Entropy)*inv - vec.Dot64(g, w),
		Rounded:  e.linearRounding(w, g, total),
	}, nil
}

// Value returns F(w) without a gradient: the hinge's max or the loss's log-sum-exp, plus the regulariser.
func (e *Engine) Value(ctx context.Context, w []float32) (float64, error) {
	return e.value(ctx, w, e.all, e.shards)
}

// ValueOf returns F(w) with the mean loss over the given examples only, at least one.
func (e *Engine) ValueOf(ctx context.Context, w []float32, examples []int) (float64, error) {
	return e.value(ctx, w, examples, shards(e.Data, examples))
}

func (e *Engine) value(ctx context.Context, w []float32, examples []int, shards [][]int) (float64, error) {
	total, err := e.backend.value(ctx, w, examples, shards)
	if err != nil {
		return 0, err
	}
	return total/float64(len(examples)) + e.regulariser(w), nil
}
