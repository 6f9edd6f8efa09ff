package engine

import (
	"context"
	"slices"
	"sort"

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

// denseBatch are the strands of a step on dense inputs: lanes of its shards. rowaccess.go has those of sparse ones.
type denseBatch struct {
	stepLanes
	access *denseAccess
	values []float32 // the gradient, packed if there are several ranks and it is not touched everywhere
	pieces [][]byte  // scratch memory
}

func (h *denseAccess) step(ctx context.Context, of stepLanes) (Gradient, error) {
	s := &h.current
	*s = denseBatch{stepLanes: of, access: h, pieces: s.pieces[:0]}
	h.touched.findAhead(h.Data, of.examples)
	h.touched.ahead = false
	err := h.evaluateAndAdd(ctx, s.group(), s)
	for _, ln := range h.team.lanes[:s.lanes] {
		h.touched.uses(ln.grad) // there is none of other ranks' lanes
	}
	if err != nil {
		return nil, err
	}
	h.gradient = denseGradient{s.sum(), h.touched}
	return &h.gradient, nil
}

func (s *denseBatch) run(ctx context.Context, lo, hi int) error {
	return s.evaluate(ctx, lo, hi, s.answers, s)
}

func (s *denseBatch) begin(ln *Lane) {
	ln.giveGradient()
	if s.engine.touched.everywhere() || ln.full {
		clear(ln.grad)
		ln.full = false
	}
}

func (s *denseBatch) pull(ln *Lane) error {
	if ln.Sums.Moved == 0 {
		return nil
	}
	return ln.Worker.Pullback(&ln.V, ln.grad)
}

func (s *denseBatch) gather(l int, known bool, do func([]byte)) {
	if s.answers {
		s.gatherShards(l, known, do, answersFound)
	} else {
		s.gatherShards(l, known, do, nil)
	}
}

// total implements strands. A process alone adds to the gradient of its first lane, where it differs from zero. With
// several ranks, numbers that are not touched do not pass from rank to rank.
func (s *denseBatch) total() total {
	e, h := s.engine, s.access
	if s.group().Size() == 1 {
		s.values = e.team.lanes[0].grad
		s.pieces = append(s.pieces, vec.Bytes(s.values))
		return total{pieces: s.pieces, window: 1, all: 1}
	}
	if h.shared == nil {
		h.shared = make([]float32, e.Scorer.Dim())
	}
	n := 0
	h.spans = h.spans[:0]
	e.touched.each(func(lo, hi int) {
		h.spans = append(h.spans, packed{lo, hi, n})
		n += hi - lo
	})
	if s.values = h.shared; !e.touched.everywhere() {
		h.packed = vec.Grow(h.packed, n)
		s.values = h.packed
	}
	return cut(s.values)
}

func (s *denseBatch) add(lo, hi, from, to int) error {
	e := s.engine
	if s.group().Size() == 1 {
		for _, ln := range e.team.lanes[1:hi] {
			e.touched.axpy(1, ln.grad, s.values)
		}
		return nil
	}
	eachPiece(from, to, len(s.values), func(a, b int) {
		for l := lo; l < hi; l++ { // ranks before lane 0 pass on what is there
			addPacked(e.team.lanes[l].grad, s.access.spans, a, s.values[a:b], l == 0)
		}
	})
	return nil
}

func (s *denseBatch) end(int, int) error { return nil }

// sum returns the sum of the lanes' gradients.
func (s *denseBatch) sum() []float32 {
	e, h := s.engine, s.access
	if s.group().Size() > 1 && !e.touched.everywhere() {
		e.touched.uses(h.shared)
		for _, of := range h.spans {
			copy(h.shared[of.lo:of.hi], s.values[of.at:])
		}
		return h.shared
	}
	return s.values
}

// packed is where w[lo:hi] lies among numbers that are packed, from at on.
type packed struct{ lo, hi, at int }

// addPacked adds g to the packed numbers from at on, or sets them.
func addPacked(g []float32, spans []packed, at int, to []float32, set bool) {
	k := sort.Search(len(spans), func(k int) bool { return spans[k].at+spans[k].hi-spans[k].lo > at })
	for len(to) > 0 {
		from := g[spans[k].lo+at-spans[k].at : spans[k].hi]
		n := min(len(from), len(to))
		if set {
			copy(to, from)
		} else {
			vec.Axpy(1, from[:n], to[:n])
		}
		to, at, k = to[n:], at+n, k+1
	}
}

// denseGradient is a D that is a vector.
type denseGradient struct {
	values  []float32
	touched *touchedRows // where D can differ from zero
}

func (g *denseGradient) AddTo(c float32, w []float32) { g.touched.axpy(c, g.values, w) }

func (g *denseGradient) AddToTwo(c float32, w []float32, d float32, u []float32) {
	g.AddTo(c, w)
	g.AddTo(d, u)
}

func (g *denseGradient) Times(c float32, _ *[]float32) []float32 {
	g.touched.each(func(lo, hi int) { vec.Scale(c, g.values[lo:hi]) })
	return g.values
}

func (g *denseGradient) product(st *Step) float64 {
	var soft []float32
	return g.Dot(st.at.weights(&soft))
}

func (g *denseGradient) eachRow(do func(d []float32, lo, hi int)) {
	g.touched.each(func(lo, hi int) { do(g.values, lo, hi) })
}

func (g *denseGradient) Norm2() float64          { return vec.Norm2(g.values) }
func (g *denseGradient) Dot(w []float32) float64 { return vec.Dot64(g.values, w) }
