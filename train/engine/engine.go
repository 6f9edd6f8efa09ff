package engine

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/kinds"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
	"github.com/dsp-go/dsp/train/ranks"
)

// A pass cuts the data into shards and deals the shards to lanes. Both depend on the data alone. Each lane sums its own
// shards in order, and the lanes are summed in order, so the sums have the same bits whatever the number of threads. The
// same holds for the shards of a step's batch.
const (
	passLanes      = 16      // most lanes; with dense inputs each has a gradient as large as the weights
	laneWeights    = 1 << 28 // entries of the gradients of all lanes, if two lanes have fewer
	shardPositions = 512     // most positions in a full pass's shard, unless a single example has more
	shardRows      = 4096    // most rows there of a table, such as one of all pairs of words, unless a single example has more
	stepExamples   = 8       // examples in a step's shard
)

// Engine evaluates an Objective on whole data sets and on batches, in parallel. It is not safe for concurrent use.
//
// With dense inputs each lane pulls gradients back into its own vector. With sparse inputs there are too many weights for
// that, and each example touches few of them. The lanes then stop in potential space, and their results are scattered, in
// order, straight into the destination (gradient.go).
type Engine struct {
	*Objective
	backend    backend
	sparse     *sparse.Linear // the scorer if its inputs are sparse, else nil
	kind       kinds.Kind
	precise    bool // full passes sum potentials and gradients in float64 (rounding.go)
	doubles    bool // full passes of certificates are in float64 throughout (doubles.go)
	pulls      bool // in float64 what lanes have in wide: such a pass is at work
	narrows    bool // a pass has shown that float64 does not hold its sums
	threads    int
	most       int              // lanes
	workers    chan nets.Worker // one for each thread, of scorers whose workers are large; else nil
	all        []int
	shards     [][]int // examples of each shard of a full pass
	lanes      []*Lane // grown on demand
	truncators truncators
	findings   []*finding // grown on demand; lane l starts with finding l
	step       lanesOfStep
	sums       []Sums    // of the shards of a step
	answered   []float64 // f_i of the examples of a step
	entropy    []float64 // of their answers, for losses that are smooth
	support    *support  // of the last step's gradient; nil if it is all weights
	reached    bool      // the support is that of the next step
	lent       int       // first lanes whose gradients are zero except on the support
	used       int       // number of findings of the last step
	norm       norm      // scratch memory
	soft       softSearch
	narrow     []float32   // scratch memory: the gradient of a full pass in float32
	wide       []float64   // scratch memory: the same in float64
	spare      [][]float32 // for vectors of methods (vectors.go)
	dense      denseGradient
	spread     sparseGradient

	group  ranks.Group // shares the work of passes and steps
	shared sharedSums  // scratch memory
	parts  int         // of a batch on a device; up to 1: it is not cut
	own    []int       // examples of this rank; nil: not asked for yet

	centres []central // [n] sizes of potentials at the centre, for rounding; 0: not known yet
	lost    []float32 // [n] the most that the loss adds to a potential, at least 1; 0: not known yet

	blurs   map[int]float64 // relative errors beyond float32 of the marginals of EntropyRounding or Blur; not of examples without
	blurred float64         // the same of all marginals of RecomposeWatched
	watches bool            // answers, for it
	watched atomic.Uint64   // the bits of the largest error since Watch
}

// finding is a shard and the results on it. It may have to outlive the lane's work on the shard.
type finding struct {
	Batch   structured.Batch
	Answer  oracles.Answer
	V       structured.Marginals // the marginals to pull back
	doubles structured.Doubles   // in a pass in float64, the numbers to pull back in place of those of V, which has their layout
}

// Lane owns the scratch memory of one strand of work. It scores, queries and pulls back one shard after another.
type Lane struct {
	*finding                       // of the current shard
	Worker   nets.Worker           // of the objective's scorer
	precise  nets.PreciseWorker    // the same with sums in float64, for full passes; nil if the scorer has none
	Oracle   oracles.Maximiser     // not shared
	Theta    structured.Potentials // with ℓ added
	φ        structured.Potentials // at other weights
	negated  structured.Marginals  // −r_i, for full passes
	soft     []float32             // scratch memory for thresholded weights
	rows     sparse.Rows           // those that the batch touches, for a point that needs them
	allowed  allowed
	before   structured.Marginals // the answers at another point
	Output   []int32              // scratch memory for the best outputs
	Values   []float64            // and their values
	grad     []float32            // nil for sparse inputs
	wide     []float64            // the gradient of a full pass, if it is summed in float64; nil for sparse inputs
	full     bool                 // whether grad may differ from zero anywhere
	Sums     Sums                 // over the shards so far
	journal  *[]Sums              // gets what is added to Sums, if others add to the same sums before it (ranks.go); else nil
	losses   []float64            // f_i, smoothed, of the current shard
	doubly   doubleLane
	entropy  []float64 // of its answers, for losses that are smooth
	Err      error     // the first error
}

// Sums are totals over examples, each weighted by its c_i.
type Sums struct {
	Primal   float64 // f_i
	Smoothed float64 // f_i with the smoothed max
	Linear   float64 // ⟨u_i − r_i, θ_i + ℓ_i⟩, where r_i is the gold output or comes from the memory
	Loss     float64 // ⟨u_i − r_i, ℓ_i⟩
	Entropy  float64 // entropy of u_i, if the loss is a log-partition function, or what takes its place (quadratic.go)
	Scores   float64 // |h_i| + |⟨1_{y_i}, θ_i⟩|, the scale of rounding errors; 0 from a device
	Above    float64 // bound on the rounding errors of Primal (rounding.go); 0 from a device
	Below    float64 // bound on the rounding errors of Linear and Entropy; 0 from a device
	Blur     float64 // in a pass in float64, bound on the error of the sum of gradients
	Exact    int     // answers in which the smoothing was exact
	Moved    int     // answers that differ from the memory
}

func (s *Sums) add(t Sums) {
	s.Primal += t.Primal
	s.Smoothed += t.Smoothed
	s.Linear += t.Linear
	s.Loss += t.Loss
	s.Entropy += t.Entropy
	s.Scores += t.Scores
	s.Above += t.Above
	s.Below += t.Below
	s.Blur += t.Blur
	s.Exact += t.Exact
	s.Moved += t.Moved
}

// tally returns where to add to the lane's sums, for an addition or several of different numbers.
func (ln *Lane) tally() *Sums {
	if ln.journal == nil {
		return &ln.Sums
	}
	*ln.journal = append(*ln.journal, Sums{})
	return &(*ln.journal)[len(*ln.journal)-1]
}

// NewEngine returns an engine for the objective, on the host. It uses up to the given number of threads (at least 1).
func NewEngine(o *Objective, threads int) *Engine {
	all := make([]int, o.Data.Len())
	for i := range all {
		all[i] = i
	}
	linear, _ := o.Scorer.(*sparse.Linear)
	structure := o.Scorer.Form().Structure
	if o.Task == nil {
		o.Task = structure.TaskLoss()
	}
	e := &Engine{
		Objective: o, kind: kinds.Of(structure), sparse: linear, threads: max(1, threads), all: all, shards: shards(o.Data, all),
		support: newSupport(o.Scorer), group: ranks.Alone{},
	}
	e.most = passLanes
	if linear == nil {
		e.most = min(passLanes, max(2, laneWeights/max(1, o.Scorer.Dim())))
	}
	if nets.Tunes(o.Scorer) {
		e.workers = make(chan nets.Worker, e.threads)
		for range e.threads {
			e.workers <- o.Scorer.NewWorker()
		}
	}
	e.precise = nets.NewPreciseWorker(o.Scorer) != nil
	e.backend = local{e}
	return e
}

// shards cuts examples into runs of at most shardPositions positions each, and of at most shardRows rows of every table; a longer example is a
// run on its own.
func shards(data *structured.Dataset, examples []int) [][]int {
	var cut [][]int
	lo, size := 0, make([]int, 1+len(data.Tables)) // of positions, and of the tables' rows
	for k, i := range examples {
		if k > lo && !fits(data, i, size) {
			cut = append(cut, examples[lo:k])
			lo = k
			clear(size)
		}
		size[0] += data.Length(i)
		for j, t := range data.Tables {
			size[1+j] += t.Offsets[i+1] - t.Offsets[i]
		}
	}
	if lo < len(examples) {
		cut = append(cut, examples[lo:])
	}
	return cut
}

// fits reports whether example i fits into a shard of some size.
func fits(data *structured.Dataset, i int, size []int) bool {
	for j, t := range data.Tables {
		if size[1+j]+t.Offsets[i+1]-t.Offsets[i] > shardRows {
			return false
		}
	}
	return size[0]+data.Length(i) <= shardPositions
}

// Len returns n, the number of examples.
func (e *Engine) Len() int { return e.Data.Len() }

// Threads returns how many threads the engine may use.
func (e *Engine) Threads() int { return e.threads }

// Kind returns the kind of structure that the scorer works on.
func (e *Engine) Kind() kinds.Kind { return e.kind }

// Sparse returns the scorer if it is linear in sparse inputs, else nil. Its steps touch few weights.
func (e *Engine) Sparse() *sparse.Linear { return e.sparse }

// NewLane returns a lane for the caller's own use, separate from the engine's lanes. It has no gradient vector.
func (e *Engine) NewLane() *Lane {
	ln := &Lane{finding: &finding{}, Worker: e.Scorer.NewWorker(), precise: nets.NewPreciseWorker(e.Scorer), Oracle: e.kind.Oracle()}
	if t, ok := ln.Oracle.(oracles.Truncator); ok {
		e.truncators.Lock()
		e.truncators.all = append(e.truncators.all, t)
		e.truncators.Unlock()
	}
	return ln
}

// truncators are the oracles of the lanes, if they change potentials for which they are not exact.
type truncators struct {
	sync.Mutex
	all []oracles.Truncator
}

// Truncated returns how many times the oracles have changed potentials since the last call, because they are not exact for them. Values that
// were computed meanwhile may be bounds. No lane may be at work.
func (e *Engine) Truncated() int {
	e.truncators.Lock()
	defer e.truncators.Unlock()
	n := 0
	for _, t := range e.truncators.all {
		n += t.Truncated()
		t.ResetTruncated()
	}
	if a, ok := e.backend.accelerator().(TruncatingAccelerator); ok {
		n += a.Truncated()
	}
	return e.ofAllRanks(n)
}

// run calls work(l, lane) for lanes 0 to n-1 on the engine's threads and returns the error of the first lane that failed.
func (e *Engine) run(ctx context.Context, n int, work func(l int, ln *Lane) error) error {
	return e.runLanes(ctx, 0, n, work)
}

// runLanes is run for lanes lo to hi-1.
func (e *Engine) runLanes(ctx context.Context, lo, hi int, work func(l int, ln *Lane) error) error {
	e.growLanes(hi)
	e.growFindings(hi)
	lanes := e.lanes
	e.Parallel(hi-lo, func(l int) {
		l += lo
		if e.workers != nil {
			lanes[l].Worker = <-e.workers
			defer func() { e.workers <- lanes[l].Worker }()
		}
		lanes[l].finding = e.findings[l]
		lanes[l].Err = host.Guard(func() error { return work(l, lanes[l]) })
	})
	for _, ln := range lanes[lo:hi] {
		if ln.Err != nil {
			return ln.Err
		}
	}
	return ctx.Err()
}

func (e *Engine) growLanes(n int) {
	for len(e.lanes) < n {
		e.lanes = append(e.lanes, e.NewLane())
	}
}

func (e *Engine) growFindings(n int) {
	for len(e.findings) < n {
		e.findings = append(e.findings, &finding{})
	}
}

// Parallel calls work(k) for k from 0 to n-1 on the engine's threads. No call may panic.
func (e *Engine) Parallel(n int, work func(k int)) {
	threads := min(e.threads, n)
	if threads <= 1 {
		for k := range n {
			work(k)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
				work(k)
			}
		})
	}
	wg.Wait()
}

// query scores the lane's batch at a point, asks the smoothed oracle, and adds to the lane's sums every term without r_i.
func (e *Engine) query(ln *Lane, at Point, s oracles.Smoothing, wantMax bool, dropout uint64) error {
	if err := e.potentials(ln, at, dropout); err != nil {
		return err
	}
	e.ask(ln, s, wantMax)
	return nil
}

// ask asks the smoothed oracle about the lane's potentials and adds to the lane's sums every term without r_i.
func (e *Engine) ask(ln *Lane, s oracles.Smoothing, wantMax bool) {
	if e.Loss == Quadratic {
		e.askQuadratic(ln)
		return
	}
	s = e.smoothing(s)
	wantMax = wantMax && !e.Loss.Smooth()
	s.Answer(ln.Oracle, &ln.Theta, &ln.Answer, wantMax)
	e.watch(ln, s)
	e.queryAllowed(ln, s, wantMax)
	ln.losses, ln.entropy = ln.losses[:0], ln.entropy[:0]
	for b, i := range ln.Batch.Examples {
		c := e.Data.Weight(i)
		gold, most := e.gold(ln, b)
		f := LossAt(ln.Answer.Value[b], gold)
		ln.losses = append(ln.losses, f)
		smoothed := c * f
		to := ln.tally()
		to.Smoothed += smoothed
		to.Scores += c * (math.Abs(ln.Answer.Value[b]) + math.Abs(gold))
		switch {
		case e.Loss.Smooth():
			to.Primal += smoothed
			h := ln.Answer.EntropyOf(b, &ln.Theta)
			ln.entropy = append(ln.entropy, h)
			to.Entropy += c * h
		case wantMax:
			to.Primal += c * LossAt(ln.Answer.Max[b], most)
		}
		if ln.Answer.Exact[b] && e.exactGold(ln, b) {
			to.Exact++
		}
	}
}

// difference sets the lane's v to c_i(u_i − r_i) for each example. r_i comes from the memory; with nil it is the gold output.
func (e *Engine) difference(ln *Lane, memory *Memory) {
	ln.V.Copy(&ln.Answer.U)
	for b, i := range ln.Batch.Examples {
		if memory == nil {
			e.subtractGold(ln, &ln.V, b)
		} else {
			memory.subtract(i, &ln.V, b)
		}
	}
	e.weigh(ln, memory == nil)
}

// weigh multiplies the lane's v, the differences of answers and references, by c_i, and adds what depends on v to the lane's sums.
func (e *Engine) weigh(ln *Lane, gold bool) {
	for b, i := range ln.Batch.Examples {
		c, to := e.Data.Weight(i), ln.tally()
		if gold && e.settles(i) {
			e.settle(ln, b, c)
			continue
		}
		to.Linear += c * ln.V.Dot(b, &ln.Theta)
		if e.sparse != nil && e.Loss.Augments() {
			to.Loss += c * e.Task.Dot(&ln.V, b, ln.Batch.GoldOf(b))
		}
		if gold || !ln.V.Zero(b) {
			to.Moved++
		}
		if c != 1 {
			ln.V.Scale(b, float32(c))
		}
	}
}
