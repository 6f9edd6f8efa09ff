package engine

import (
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// allowed is what a lane knows of those examples of its batch whose labels are known in part. Such an example's loss is
//
//	f_i(w) = h(θ_i + ℓ_i) − h_A(θ_i),
//
// where h_A is h over the outputs that the labels allow, on which ℓ_i is zero: for crf the negative log-likelihood that
// the output is one of them, for the hinge the latent structural SVM of Yu and Joachims (2009). With r_i the oracle's
// answer about allowed outputs alone, ∇f_i = J_iᵀ(u_i − r_i): r_i takes the place of 1_{y_i}. The loss is no longer
// convex in θ_i. Putting in place of h_A what its tangent at some point says makes it so, and no smaller: then r_i is
// fixed, and is the Objective's Completion.
type allowed struct {
	index    []int                 // [B] place of each example in θ, −1 where all labels are known; empty where they are in the whole data
	examples []int                 // of the batch, that are in θ
	θ        structured.Potentials // without what the labels forbid
	answer   oracles.Answer
}

// find lists the examples of a batch with labels known in part.
func (a *allowed) find(batch *structured.Batch) {
	a.index, a.examples = a.index[:0], a.examples[:0]
	if len(batch.Data.LabelSets) == 0 {
		return
	}
	for b, i := range batch.Examples {
		place := -1
		if batch.Data.Partial(i) {
			place = len(a.examples)
			a.examples = append(a.examples, b)
		}
		a.index = append(a.index, place)
	}
}

// restrict copies what the labels allow of the potentials of the examples that were found.
func (a *allowed) restrict(batch *structured.Batch, θ *structured.Potentials) {
	θ.Select(a.examples, &a.θ)
	for k, b := range a.examples {
		θ.Structure.Restrict(&a.θ, k, batch.GoldOf(b))
	}
}

// queryAllowed asks the smoothed oracle about allowed outputs, where that is what losses compare with.
func (e *Engine) queryAllowed(ln *Lane, s oracles.Smoothing, wantMax bool) {
	if a := &ln.allowed; len(a.examples) > 0 && e.Completion == nil {
		a.restrict(&ln.Batch, &ln.Theta)
		s.Answer(ln.Oracle, &a.θ, &a.answer, wantMax)
	}
}

// Partial reports whether labels known in part keep the objective from being convex on an affine scorer.
func (o *Objective) Partial() bool {
	return o.Completion == nil && len(o.Data.LabelSets) > 0 && slices.ContainsFunc(o.Data.Labels, func(l int32) bool { return l < 0 })
}

// gold returns what f_i of chain b compares with, ⟨θ_i, 1_{y_i}⟩ or what stands for it, smoothed and not. Since ℓ_i is
// zero on what the labels allow, it may be part of θ.
func (e *Engine) gold(ln *Lane, b int) (smoothed, most float64) {
	a, score := &ln.allowed, 0.0
	switch i := ln.Batch.Examples[b]; {
	case len(a.examples) == 0 || a.index[b] < 0:
		score = ln.Theta.Score(b, ln.Batch.Gold(b))
	case e.Completion != nil:
		score = e.Completion.DotWith(i, &ln.Theta, b)
	default:
		return a.answer.Value[a.index[b]], a.answer.Max[a.index[b]]
	}
	return score, score
}

// exactGold reports whether what stands for the gold output of chain b is an exact answer.
func (e *Engine) exactGold(ln *Lane, b int) bool {
	a := &ln.allowed
	return len(a.examples) == 0 || a.index[b] < 0 || e.Completion != nil || a.answer.Exact[a.index[b]]
}

// subtractGold takes 1_{y_i}, or the r_i that stands for it, off chain b of the lane's v.
func (e *Engine) subtractGold(ln *Lane, b int) {
	a := &ln.allowed
	switch i := ln.Batch.Examples[b]; {
	case len(a.examples) == 0 || a.index[b] < 0:
		ln.V.Add(b, ln.Batch.Gold(b), -1)
	case e.Completion != nil:
		e.Completion.subtract(i, &ln.V, b)
	default:
		ln.V.AddScaled(b, -1, &a.answer.U, a.index[b])
	}
}
