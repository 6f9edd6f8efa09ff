package engine

import (
	"context"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Step is the result of one stochastic step on a batch B of examples. Every method is a rule for using it.
type Step struct {
	Grad     Gradient // D = Σ_{i∈B} c_i J_iᵀ(u_i − r_i), valid until the next call on the engine
	Linear   float64  // Σ c_i ⟨u_i − r_i, θ_i + ℓ_i⟩
	Smoothed float64  // Σ c_i f_i, with the smoothed max
	Exact    int      // examples with an exact top-K answer
	Moved    int      // examples with u_i ≠ r_i; when none did, nothing is pulled back

	at      Point          // the point of the step
	loss    float64        // Σ c_i ⟨u_i − r_i, ℓ_i⟩
	pending *deviceBackend // has these numbers until Fetch, or nil; Moved is then an upper bound
}

// Gradient is the D = Σ_{i∈B} c_i J_iᵀ(u_i − r_i) of a step, valid until the next call on the engine.
type Gradient interface {
	// AddTo adds cD to w. A D on a device cannot be added: only paths on that device use its entries. AddToTwo adds cD
	// to w and dD to u, for which a sparse D takes less time than two calls.
	AddTo(c float32, w []float32)
	AddToTwo(c float32, w []float32, d float32, u []float32)
	// Times returns cD as a vector: memory of the engine, or zeros, to which it was added.
	Times(c float32, zeros *[]float32) []float32
	// Norm2 returns ‖D‖².
	Norm2() float64
	// Dot returns ⟨D, w⟩.
	Dot(w []float32) float64

	// product returns ⟨D, w⟩ at the point of its step.
	product(st *Step) float64
	// eachRow calls do for the rows of weights in which D can differ from zero, or for ranges of several rows:
	// w[lo:hi], with a vector that is D there.
	eachRow(do func(d []float32, lo, hi int))
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
func (e *Engine) Step(ctx context.Context, w []float32, examples []int, s oracles.Smoothing,
	memory *Memory) (Step, error) {
	st, err := e.StepAt(ctx, At(w), examples, s, memory, 0)
	if err == nil {
		err = st.Fetch()
	}
	return st, err
}

// StepAt is Step at a point, with dropout unless its seed is 0. On a device the numbers may not have arrived yet; see
// Fetch.
func (e *Engine) StepAt(ctx context.Context, w Point, examples []int, s oracles.Smoothing, memory *Memory,
	dropout uint64) (Step, error) {
	return e.backend.step(ctx, w, examples, s, memory, dropout)
}

// Change asks the oracle about a batch at two points and pulls back the change in its answers,
// Σ c_i J_iᵀ(u_i(to) − u_i(from)), for an affine scorer.
func (e *Engine) Change(ctx context.Context, from, to []float32, examples []int,
	s oracles.Smoothing) (Gradient, error) {
	return e.backend.change(ctx, from, to, examples, s)
}

// OverBatch runs work on the shards of a batch and pulls back the v that work leaves in each lane. Shard k goes to lane
// k mod e.layout.lanes, so a step never needs more gradient vectors than a full pass, however large the batch. keep
// retains the answers on all shards. Sparse inputs always retain them, because their gradient is built from them.
func (e *Engine) OverBatch(ctx context.Context, w Point, examples []int, keep bool,
	work func(ln *Lane) error) (Step, error) {
	n := (len(examples) + StepExamples - 1) / StepExamples
	s := stepLanes{engine: e, examples: examples, lanes: min(e.layout.lanes, n), answers: keep, work: work}
	if keep {
		e.team.growResults(n)
	}
	e.team.growLanes(s.lanes)
	e.last.reset(n, len(examples))
	grad, err := e.access.step(ctx, s)
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

func (e hostBackend) step(ctx context.Context, w Point, examples []int, s oracles.Smoothing, memory *Memory,
	dropout uint64) (Step, error) {
	return e.OverBatch(ctx, w, examples, memory != nil, func(ln *Lane) error {
		if err := e.scoreAndAsk(ln, w, s, dropout); err != nil {
			return err
		}
		e.Difference(&ln.Shard, memory.points())
		return nil
	})
}

func (e hostBackend) change(ctx context.Context, from, to []float32, examples []int,
	s oracles.Smoothing) (Gradient, error) {
	st, err := e.OverBatch(ctx, At(to), examples, false, func(ln *Lane) error {
		if err := e.scoreAndAsk(ln, At(from), s, 0); err != nil {
			return err
		}
		ln.KeepAnswer()
		if err := e.scoreAndAsk(ln, At(to), s, 0); err != nil {
			return err
		}
		e.DifferenceOfAnswers(&ln.Shard)
		return nil
	})
	return st.Grad, err
}

// scoreAndAsk scores the lane's batch at a point, asks the smoothed oracle, and adds to the lane's sums every term
// without r_i.
func (e *Engine) scoreAndAsk(ln *Lane, at Point, s oracles.Smoothing, dropout uint64) error {
	if err := e.potentials(ln, at, dropout); err != nil {
		return err
	}
	e.Ask(&ln.Shard, s, false)
	return nil
}

// stepLanes is work on the shards of a batch, which the lanes of a step do.
type stepLanes struct {
	engine   *Engine
	examples []int
	lanes    int
	answers  bool // those on all shards are kept, for a memory
	work     func(ln *Lane) error
}

func (s *stepLanes) len() int { return s.lanes }

// shard returns where the examples of shard k are in the batch.
func (s *stepLanes) shard(k int) (from, to int) {
	return k * StepExamples, min((k+1)*StepExamples, len(s.examples))
}

// pulling is what becomes of the v of lanes.
type pulling interface {
	begin(ln *Lane)
	pull(ln *Lane) error // of a shard that was evaluated
}

// evaluate evaluates the shards of lanes lo to hi−1. With keep, what was found on every shard is kept.
func (s *stepLanes) evaluate(ctx context.Context, lo, hi int, keep bool, by pulling) error {
	e := s.engine
	return e.team.inLanes(ctx, lo, hi, func(l int, ln *Lane) error {
		by.begin(ln)
		for k := l; k < len(e.last.sums) && ctx.Err() == nil; k += s.lanes {
			if keep {
				ln.shardResult = e.team.results[k]
			}
			ln.Sums = Sums{}
			from, to := s.shard(k)
			ln.Batch.Reset(e.Data, s.examples[from:to])
			if err := s.work(ln); err != nil {
				return err
			}
			e.last.sums[k] = ln.Sums
			copy(e.last.losses[from:], ln.losses)
			copy(e.last.entropy[from:], ln.entropy)
			if err := by.pull(ln); err != nil {
				return err
			}
		}
		return nil
	})
}

// gatherShards calls do with the sums, losses and entropies of a lane's shards and, for each, what marginals returns of
// what was found there.
func (s *stepLanes) gatherShards(l int, known bool, do func([]byte),
	marginals func(found *shardResult) []*structured.Marginals) {
	e := s.engine
	for k := l; k < len(e.last.sums); k += s.lanes {
		from, to := s.shard(k)
		do(vec.Bytes(e.last.sums[k : k+1]))
		do(vec.Bytes(e.last.losses[from:to]))
		do(vec.Bytes(e.last.entropy[from:to]))
		if marginals == nil {
			continue
		}
		found := e.team.results[k]
		if !known {
			found.Batch.Reset(e.Data, s.examples[from:to])
		}
		for _, u := range marginals(found) {
			if !known {
				u.Resize(&found.Batch, e.Scorer.Form())
			}
			for i := range u.Parts {
				do(vec.Bytes(u.Parts[i].Values))
			}
		}
	}
}

// answersFound is a function for gatherShards.
func answersFound(found *shardResult) []*structured.Marginals {
	return []*structured.Marginals{&found.Answer.U}
}
