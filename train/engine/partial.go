package engine

import (
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// allowed holds a lane's data on the examples of its batch with partial labels. The loss of such an example is
//
//	f_i(w) = h(θ_i + ℓ_i) − h_A(θ_i),
//
// where h_A is h over the outputs that the labels allow. ℓ_i is zero on those outputs. For crf this is the negative
// log-likelihood that the output is one of them; for the hinge it is the latent structural SVM of Yu and Joachims
// (2009). The gradient is ∇f_i = J_iᵀ(u_i − r_i): r_i, the oracle's answer over the allowed outputs alone, replaces
// 1_{y_i}. The loss is no longer convex in θ_i. Replacing h_A with its tangent at a point gives a convex upper bound.
// Then r_i is fixed, and is the Objective's Completion.
type allowed struct {
	index    []int                 // [B] index of each example in θ, −1 if its labels are complete; empty if the whole data set is fully labelled
	examples []int                 // of the batch, those that θ holds
	θ        structured.Potentials // restricted to what the labels allow
	answer   oracles.Answer
}

// find lists the examples of a batch with partial labels.
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

// restrict copies the potentials of the listed examples and forbids what their labels do not allow.
func (a *allowed) restrict(batch *structured.Batch, θ *structured.Potentials) {
	θ.Select(a.examples, &a.θ)
	for k, b := range a.examples {
		θ.Structure.(structured.Restricter).Restrict(&a.θ, k, batch.GoldOf(b))
	}
}

// queryAllowed asks the smoothed oracle about the allowed outputs, unless a Completion fixes the reference.
func (e *Evaluation) queryAllowed(sh *Shard, s oracles.Smoothing, wantMax bool) {
	if a := &sh.allowed; len(a.examples) > 0 && e.Completion == nil {
		a.restrict(&sh.Batch, &sh.Theta)
		s.Answer(sh.Oracle, &a.θ, &a.answer, wantMax)
	}
}

// Partial reports whether partial labels make the objective nonconvex even with an affine scorer.
func (o *Objective) Partial() bool {
	return o.Completion == nil && len(o.Data.LabelSets) > 0 && slices.ContainsFunc(o.Data.Labels, func(l int32) bool { return l < 0 })
}

// gold returns the reference score of chain b, ⟨θ_i, 1_{y_i}⟩ or its replacement, with and without smoothing. θ may
// include ℓ_i, since ℓ_i is zero on the allowed outputs.
func (e *Evaluation) gold(sh *Shard, b int) (smoothed, most float64) {
	a, score := &sh.allowed, 0.0
	switch i := sh.Batch.Examples[b]; {
	case e.Soft:
		score = e.Completion.DotWith(i, &sh.Theta, b)
	case len(a.examples) == 0 || a.index[b] < 0:
		score = sh.Theta.Score(b, sh.Batch.Gold(b))
	case e.Completion != nil:
		score = e.Completion.DotWith(i, &sh.Theta, b)
	default:
		return a.answer.Value[a.index[b]], a.answer.Max[a.index[b]]
	}
	return score, score
}

// exactGold reports whether the reference of chain b is an exact answer.
func (e *Evaluation) exactGold(sh *Shard, b int) bool {
	a := &sh.allowed
	return len(a.examples) == 0 || a.index[b] < 0 || e.Completion != nil || a.answer.Exact[a.index[b]]
}

// subtractGold subtracts 1_{y_i}, or the r_i that replaces it, from chain b of marginals v of the lane's batch.
func (e *Evaluation) subtractGold(sh *Shard, v *structured.Marginals, b int) {
	a := &sh.allowed
	switch i := sh.Batch.Examples[b]; {
	case e.Soft:
		e.Completion.subtract(i, v, b)
	case len(a.examples) == 0 || a.index[b] < 0:
		v.Add(b, sh.Batch.Gold(b), -1)
	case e.Completion != nil:
		e.Completion.subtract(i, v, b)
	default:
		v.AddScaled(b, -1, &a.answer.U, a.index[b])
	}
}
