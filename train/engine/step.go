package engine

import (
	"context"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/ranks"
)

// Step is the result of one stochastic step on a batch B of examples. Every method is a rule for using it.
type Step struct {
	Grad     Gradient // D = Σ_{i∈B} c_i J_iᵀ(u_i − r_i), valid until the next call on the engine
	Linear   float64  // Σ c_i ⟨u_i − r_i, θ_i + ℓ_i⟩
	Smoothed float64  // Σ c_i f_i, with the smoothed max
	Exact    int      // examples with an exact top-K answer
	Moved    int      // examples with u_i ≠ r_i; when none did, nothing is pulled back

	at      Point   // the point of the step
	loss    float64 // Σ c_i ⟨u_i − r_i, ℓ_i⟩
	pending *remote // has these numbers until Fetch, or nil; Moved is then an upper bound
}

// batchResults are the results on the batch of a step.
type batchResults struct {
	shards  int       // of the batch
	sums    []Sums    // by shard
	losses  []float64 // f_i by example
	entropy []float64 // of the answers by example, for losses that are smooth
}

func (r *batchResults) reset(shards, examples int) {
	r.shards = shards
	r.sums = slices.Grow(r.sums[:0], shards)[:shards]
	r.losses = slices.Grow(r.losses[:0], examples)[:examples]
	r.entropy = slices.Grow(r.entropy[:0], examples)[:examples]
}

// Product returns ⟨D, w⟩, where w is the point of the step.
func (s *Step) Product() float64 { return s.Grad.product(s) }

// Fetch fetches the numbers of a step that StepAt ran on a device. On the host they are already there.
func (s *Step) Fetch() error {
	if s.pending == nil {
		return nil
	}
	sums, err := s.pending.device.Sums()
	s.Linear, s.Smoothed, s.Exact, s.Moved, s.loss = sums.Linear, sums.Smoothed, sums.Exact, sums.Moved, sums.Loss
	s.pending = nil
	return err
}

// Step asks the oracle about a batch at w and pulls back the difference between its answers u_i and the references r_i.
// r_i comes from the memory; with a nil memory it is the gold output. Step does not change the memory; see Remember.
func (e *Engine) Step(ctx context.Context, w []float32, examples []int, s oracles.Smoothing, memory *Memory) (Step, error) {
	st, err := e.StepAt(ctx, At(w), examples, s, memory, 0)
	if err == nil {
		err = st.Fetch()
	}
	return st, err
}

// StepAt is Step at a point, with dropout unless its seed is 0. On a device the numbers may not have arrived yet; see Fetch.
func (e *Engine) StepAt(ctx context.Context, w Point, examples []int, s oracles.Smoothing, memory *Memory, dropout uint64) (Step, error) {
	return e.backend.step(ctx, w, examples, s, memory, dropout)
}

// Change asks the oracle about a batch at two points and pulls back the change in its answers,
// Σ c_i J_iᵀ(u_i(to) − u_i(from)), for an affine scorer.
func (e *Engine) Change(ctx context.Context, from, to []float32, examples []int, s oracles.Smoothing) (Gradient, error) {
	return e.backend.change(ctx, from, to, examples, s)
}

// OverBatch runs work on the shards of a batch and pulls back the v that work leaves in each lane. Shard k goes to lane
// k mod e.layout.lanes, so a step never needs more gradient vectors than a full pass, however large the batch. keep retains the
// answers on all shards. Sparse inputs always retain them, because their gradient is built from them.
func (e *Engine) OverBatch(ctx context.Context, w Point, examples []int, keep bool, work func(ln *Lane) error) (Step, error) {
	n := (len(examples) + StepExamples - 1) / StepExamples
	s := stepLanes{engine: e, group: e.group.Group, examples: examples, lanes: min(e.layout.lanes, n), answers: keep, work: work}
	if n <= 1 {
		s.group = ranks.Alone{} // one shard is less work than to tell others of it
	}
	if keep {
		e.team.growFound(n)
	}
	e.team.growLanes(s.lanes)
	e.last.reset(n, len(examples))
	grad, err := e.home.step(ctx, s)
	if err != nil {
		return Step{}, err
	}
	var total Sums
	for _, sums := range e.last.sums {
		total.add(sums)
	}
	return Step{
		Grad:     grad,
		Linear:   total.Linear,
		Smoothed: total.Smoothed,
		Exact:    total.Exact,
		Moved:    total.Moved,
		at:       w,
		loss:     total.Loss,
	}, nil
}
