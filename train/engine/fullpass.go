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
	total, err := e.sumAll(ctx, w, s, memory, g)
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

// sumAll runs a full pass and returns its sums. It adds Σ c_i J_iᵀ(u_i − 1_{y_i}) to g, which must be zero.
func (e *Engine) sumAll(ctx context.Context, w []float32, s oracles.Smoothing, memory *Memory, g []float32) (Sums, error) {
	if e.device != nil {
		return e.device.FullPass(ctx, w, e.smoothing(s), memory.Remote(), g)
	}
	return e.overShards(ctx, e.shards, g, func(ln *Lane) error {
		if err := e.query(ln, At(w), s, true, 0); err != nil {
			return err
		}
		if memory != nil {
			memory.remember(ln.finding, 1)
		}
		e.difference(ln, nil)
		return nil
	})
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
	if e.device != nil {
		total, err := e.device.Value(ctx, w, examples)
		return total/float64(len(examples)) + e.regulariser(w), err
	}
	total, err := e.overShards(ctx, shards, nil, func(ln *Lane) error {
		if err := e.Potentials(ln, At(w)); err != nil {
			return err
		}
		ln.Sums.Primal += e.losses(ln)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return total.Primal/float64(len(examples)) + e.regulariser(w), nil
}

// losses returns Σ c_i f_i over the lane's batch. Its potentials must have been computed.
func (e *Engine) losses(ln *Lane) float64 {
	b := ln.Batch.Len()
	if len(ln.Values) < b {
		ln.Values = make([]float64, b)
	}
	if e.Loss.Smooth() {
		ln.Oracle.(oracles.Summer).Exp(&ln.Theta, 1, ln.Values[:b], nil)
	} else {
		ln.Output = vec.Grow(ln.Output, ln.Theta.OutputSize())
		ln.Oracle.Max(&ln.Theta, ln.Output, ln.Values[:b])
	}
	e.queryAllowed(ln, e.smoothing(oracles.Smoothing{}), false)
	total := 0.0
	for c, i := range ln.Batch.Examples {
		gold, _ := e.gold(ln, c)
		total += e.Data.Weight(i) * e.loss(ln.Values[c], gold)
	}
	return total
}
