package train

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
)

// Step is what one stochastic step on a batch B of examples tells. Every method is a rule for using it.
type Step struct {
	Grad     []float32 // D = Σ_{i∈B} c_i J_iᵀ(u_i − r_i) [Dim], valid until the next call on the engine
	Linear   float64   // Σ c_i ⟨u_i − r_i, θ_i + ℓ_i⟩
	Smoothed float64   // Σ c_i f_i, with the smoothed max
	Exact    int       // examples with an exact top-K answer
	Moved    int       // examples with u_i ≠ r_i; when none did, nothing is pulled back
}

// dropper is a worker of a network with dropout. Seed 0 turns it off.
type dropper interface{ SetDropout(seed uint64) }

// Step asks the oracle about a batch at w, and pulls back the difference between its answers u_i and the references
// r_i: what memory holds, or the gold outputs where memory is nil. It leaves the memory as it is; see Remember.
func (e *Engine) Step(ctx context.Context, w []float32, examples []int, s oracles.Smoothing, memory *Memory) (Step, error) {
	n := (len(examples) + stepExamples - 1) / stepExamples
	err := e.run(ctx, n, func(l int, ln *lane) error {
		clear(ln.grad)
		ln.sums = sums{}
		ln.batch.Reset(e.Data, examples[l*stepExamples:min((l+1)*stepExamples, len(examples))])
		if net, ok := ln.worker.(dropper); ok {
			net.SetDropout(e.Dropout)
			defer net.SetDropout(0)
		}
		if err := e.ask(ln, w, s, false); err != nil {
			return err
		}
		e.difference(ln, memory)
		if ln.sums.moved == 0 {
			return nil
		}
		return ln.worker.Pullback(&ln.v, ln.grad)
	})
	if err != nil {
		return Step{}, err
	}
	e.used = n
	total := e.reduce(n)
	return Step{
		Grad:     e.lanes[0].grad,
		Linear:   total.linear,
		Smoothed: total.smoothed,
		Exact:    total.exact,
		Moved:    total.moved,
	}, nil
}

// Remember moves the memory of the last step's examples towards its answers: r_i ← (1−γ)r_i + γu_i.
func (e *Engine) Remember(memory *Memory, γ float32) {
	for _, ln := range e.lanes[:e.used] {
		memory.remember(ln, γ)
	}
}
