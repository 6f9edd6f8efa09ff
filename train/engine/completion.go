package engine

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
)

// Complete fixes the r_i at w and writes them to a memory. An objective with this memory as its Completion is convex if
// its scorer is e's or its linearisation at w. Complete returns the constant that makes the new mean loss equal to the
// old one at w and no smaller anywhere else,
//
//	(1/n) Σ c_i (⟨r_i, θ_i⟩ − h_A(θ_i)) = −(1/n) Σ c_i H(r_i),
//
// with the entropy H for log-sum-exp losses and zero for the hinge. Rows of r_i have exact sums.
func (e *Engine) Complete(ctx context.Context, w []float32, to *Memory) (constant float64, err error) {
	total, err := e.overShards(ctx, e.layout.shards, nil, func(ln *Lane) error {
		if err := e.Potentials(ln, At(w)); err != nil {
			return err
		}
		a := &ln.allowed
		e.queryAllowed(&ln.Shard, e.smoothing(oracles.Smoothing{}), false)
		BalanceTargets(e.Scorer.Form(), &a.answer.U)
		for k, b := range a.examples {
			i := ln.Batch.Examples[b]
			to.Set(i, &a.answer.U, k)
			ln.tally().Entropy += e.Data.Weight(i) * a.answer.EntropyOf(k, &a.θ)
		}
		return nil
	})
	if err == nil {
		err = e.AllGatherMarginals(ctx, &to.Marginals)
	}
	return -total.Entropy / float64(e.Len()), err
}
