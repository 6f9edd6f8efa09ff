package engine

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
)

// Complete fixes the r_i at w: it writes them to a memory, which as the Completion of an objective with e's scorer, or with
// its linearisation at w, makes that convex. It returns what is to be added to the mean loss for it to be at w what it was
// and nowhere less,
//
//	(1/n) Σ c_i (⟨r_i, θ_i⟩ − h_A(θ_i)) = −(1/n) Σ c_i H(r_i),
//
// with the entropy H for log-sum-exp losses and zero for the hinge.
func (e *Engine) Complete(ctx context.Context, w []float32, to *Memory) (constant float64, err error) {
	total, err := e.overShards(ctx, e.shards, nil, func(ln *Lane) error {
		if err := e.Potentials(ln, At(w)); err != nil {
			return err
		}
		a := &ln.allowed
		e.queryAllowed(ln, e.smoothing(oracles.Smoothing{}), false)
		for k, b := range a.examples {
			i := ln.Batch.Examples[b]
			to.Set(i, &a.answer.U, k)
			ln.Sums.Entropy += e.Data.Weight(i) * (a.answer.Value[k] - a.answer.U.Dot(k, &a.θ))
		}
		return nil
	})
	return -total.Entropy / float64(e.Len()), err
}
