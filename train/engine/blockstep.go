package engine

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// BatchDual is the dual of prox-linear's model of a batch, with a variable for each example: the point r_i of the
// marginal polytope that a Memory holds. Its steps are those of block-coordinate Frank-Wolfe in the scales of a
// Descent's weights.
type BatchDual struct {
	memory  *Memory
	batch   []int
	entropy []float64 // lower bounds of the entropies of r_i, for losses that are smooth
}

// NewBatchDual returns the dual of models of batches of the objective.
func NewBatchDual(o *Objective) *BatchDual { return &BatchDual{memory: NewMemory(o)} }

// Begin asks about a batch and takes the exact step on the line from the gold outputs to the answers, as ProxRule does.
// The descent must be on the host, on an engine whose scorer is linearised at the iterate (after Prepare).
func (b *BatchDual) Begin(ctx context.Context, d *ScaledDescent, examples []int, dropout uint64, η, λ float64) error {
	b.batch = append(b.batch[:0], examples...)
	b.memory.Restart(examples)
	moves := d.stepper.(*hostDescent)
	if err := moves.ask(ctx, Question{Examples: examples, Dropout: dropout}, b.memory); err != nil {
		return err
	}
	b.entropy = append(b.entropy[:0], d.engine.last.entropy...)
	d.makeRoom(ProxRule)
	γ := moves.prox(η, λ)
	d.engine.Remember(b.memory, float32(γ))
	for k, f := range d.engine.last.losses {
		b.entropy[k] = MixedEntropy(γ, f, b.entropy[k])
	}
	return nil
}

// MixedEntropy returns the entropy of the gold output mixed with share γ of a distribution of entropy h, in which the
// gold output has probability p = exp(−f): that of a = 1 − γ + γp for the gold output and of γ(1−p) for the others.
func MixedEntropy(γ, f, h float64) float64 {
	if γ == 0 {
		return 0
	}
	p := math.Exp(-f)
	a := 1 - γ + γ*p
	mixed := γ*(h-p*f) - γ*(1-p)*math.Log(γ)
	if a > 0 {
		mixed -= a * math.Log(a)
	}
	return mixed
}

// Step takes a step on example k of the batch: it asks the oracle at the iterate under the linearised scores and moves
// r_k towards the answer u by the line search of the dual,
//
//	γ = (c/|B|) [⟨u − r, θ + ℓ⟩ + H(u) − H(r)] / (η⟨g, qg⟩),   w ← w − ηγqg,   g = (c/|B|) Jᵀ(u − r),
//
// cut off at 1, with entropies H only for losses that are smooth. There it is the line search of a lower bound of the
// dual, which is concave: H of a mixture is at least the mixture of H.
func (b *BatchDual) Step(ctx context.Context, d *ScaledDescent, k int, dropout uint64, η float64) error {
	e, example, moves := d.engine, b.batch[k:k+1], d.stepper.(*hostDescent)
	e.touched.clean()
	e.touched.ahead = true // they stay those of the batch
	st, err := e.StepAt(ctx, At(d.W), example, oracles.Smoothing{}, b.memory, dropout)
	if err != nil {
		return err
	}
	moves.gradient(&st, len(b.batch))
	gap, h := st.Linear, 0.0
	if e.Loss.Smooth() {
		h = e.last.entropy[0]
		gap += e.Data.Weight(example[0]) * (h - b.entropy[k])
	}
	gqg := 0.0
	moves.eachRated(false, func(lo, hi, at int, rate float64) {
		gqg += rate * vec.Dot3(moves.g[lo:hi], moves.g[lo:hi], moves.q[at:at+hi-lo])
	})
	γ := 0.0
	if gqg > 0 {
		γ = min(max(gap/float64(len(b.batch))/(η*gqg), 0), 1)
	}
	moves.eachRated(false, func(lo, hi, at int, rate float64) {
		vec.Descend(float32(η*rate*γ), moves.g[lo:hi], 0, moves.q[at:at+hi-lo], d.W[lo:hi])
	})
	if moves.zeros != nil {
		e.touched.clear(moves.zeros)
	}
	e.Remember(b.memory, float32(γ))
	b.entropy[k] = (1-γ)*b.entropy[k] + γ*h
	return nil
}
