package engine

import (
	"context"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/vec"
)

// Step is what one stochastic step on a batch B of examples tells. Every method is a rule for using it.
type Step struct {
	Grad     Gradient // D = Σ_{i∈B} c_i J_iᵀ(u_i − r_i), valid until the next call on the engine
	Linear   float64  // Σ c_i ⟨u_i − r_i, θ_i + ℓ_i⟩
	Smoothed float64  // Σ c_i f_i, with the smoothed max
	Exact    int      // examples with an exact top-K answer
	Moved    int      // examples with u_i ≠ r_i; when none did, nothing is pulled back

	at     Point   // where it was
	loss   float64 // Σ c_i ⟨u_i − r_i, ℓ_i⟩
	unseen bool    // a device has these numbers still; Moved is how many examples may have
}

// Product returns ⟨D, w⟩ for the weights w that the step was asked at.
func (s *Step) Product() float64 {
	if s.Grad.engine != nil { // θ is linear in w
		return s.Linear - s.loss
	}
	return s.Grad.Dot(s.at.v)
}

// Step asks the oracle about a batch at w, and pulls back the difference between its answers u_i and the references
// r_i: what memory holds, or the gold outputs where memory is nil. It leaves the memory as it is; see Remember.
func (e *Engine) Step(ctx context.Context, w []float32, examples []int, s oracles.Smoothing, memory *Memory) (Step, error) {
	st, err := e.StepAt(ctx, At(w), examples, s, memory, 0)
	if err == nil {
		err = st.Fetch()
	}
	return st, err
}

// StepAt is Step at a point, with dropout where its seed is not 0. What a device knows of the step it may not have told yet; see Fetch.
func (e *Engine) StepAt(ctx context.Context, w Point, examples []int, s oracles.Smoothing, memory *Memory, dropout uint64) (Step, error) {
	if e.device != nil {
		return e.onDevice(ctx, w, examples, s, memory, dropout)
	}
	return e.OverBatch(ctx, w, examples, memory != nil, func(ln *Lane) error {
		if err := e.query(ln, w, s, false, dropout); err != nil {
			return err
		}
		e.difference(ln, memory)
		return nil
	})
}

// Change asks the oracle about a batch at two points, and pulls back what changes in its answers from one to the other,
// Σ c_i J_iᵀ(u_i(to) − u_i(from)), for an affine scorer.
func (e *Engine) Change(ctx context.Context, from, to []float32, examples []int, s oracles.Smoothing) (Gradient, error) {
	if e.device != nil {
		return Gradient{device: e.device}, e.device.Change(ctx, from, to, examples, e.smoothing(s))
	}
	st, err := e.OverBatch(ctx, At(to), examples, false, func(ln *Lane) error {
		if err := e.query(ln, At(from), s, false, 0); err != nil {
			return err
		}
		ln.before, ln.Answer.U = ln.Answer.U, ln.before
		if err := e.query(ln, At(to), s, false, 0); err != nil {
			return err
		}
		ln.V.Copy(&ln.Answer.U)
		for k := range ln.V.Parts {
			vec.Axpy(-1, ln.before.Parts[k].Values, ln.V.Parts[k].Values)
		}
		for b, i := range ln.Batch.Examples {
			if c := float32(e.Data.Weight(i)); c != 1 {
				ln.V.Scale(b, c)
			}
		}
		ln.Sums.Moved = ln.Batch.Len()
		return nil
	})
	return st.Grad, err
}

// OverBatch does work on the shards of a batch, and pulls back the v that it leaves in the lanes. Shard k falls to lane
// k mod passLanes, so that a step takes no more gradients than a full pass does, however many examples it is on. The answers
// about all shards are kept where they are asked for, and with sparse inputs, whose gradient is made of them.
func (e *Engine) OverBatch(ctx context.Context, w Point, examples []int, keep bool, work func(ln *Lane) error) (Step, error) {
	n := (len(examples) + stepExamples - 1) / stepExamples
	lanes := min(passLanes, n)
	keep = keep || e.sparse != nil
	if keep {
		e.growFindings(n)
	}
	e.sums = slices.Grow(e.sums[:0], n)[:n]
	err := e.run(ctx, lanes, func(l int, ln *Lane) error {
		clear(ln.grad)
		for k := l; k < n && ctx.Err() == nil; k += lanes {
			if keep {
				ln.finding = e.findings[k]
			}
			ln.Sums = Sums{}
			ln.Batch.Reset(e.Data, examples[k*stepExamples:min((k+1)*stepExamples, len(examples))])
			if err := work(ln); err != nil {
				return err
			}
			e.sums[k] = ln.Sums
			if ln.Sums.Moved == 0 || e.sparse != nil {
				continue
			}
			if err := ln.Worker.Pullback(&ln.V, ln.grad); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Step{}, err
	}
	e.used = n
	var total Sums
	for _, sums := range e.sums {
		total.add(sums)
	}
	return Step{
		Grad:     e.gradient(lanes, n),
		Linear:   total.Linear,
		Smoothed: total.Smoothed,
		Exact:    total.Exact,
		Moved:    total.Moved,
		at:       w,
		loss:     total.Loss,
	}, nil
}

// Remember moves the memory of the last step's examples towards its answers: r_i ← (1−γ)r_i + γu_i.
func (e *Engine) Remember(memory *Memory, γ float32) {
	if e.device != nil {
		e.device.Remember(memory.device, γ)
		return
	}
	for _, found := range e.findings[:e.used] {
		memory.remember(found, γ)
	}
}
