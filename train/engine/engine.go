package engine

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
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
)

// StepExamples is how many examples a step's shard has.
const StepExamples = 8

// Engine evaluates an Objective on whole data sets and on batches, in parallel. It is not safe for concurrent use.
//
// With dense inputs each lane pulls gradients back into its own vector. With sparse inputs there are too many weights for
// that, and each example touches few of them. The lanes then stop in potential space, and their results are scattered, in
// order, straight into the destination (sparsehome.go).
type Engine struct {
	*Evaluation
	backend    backend
	home       home
	sparse     *sparse.Linear // the scorer if its inputs are sparse, else nil
	doubles    bool           // full passes of certificates are in float64 throughout (doubles.go)
	pulls      bool           // in float64 what lanes have in wide: such a pass is at work
	narrows    bool           // a pass has shown that float64 does not hold its sums
	threads    int
	most       int              // lanes
	workers    chan nets.Worker // one for each thread, of scorers whose workers are large; else nil
	all        []int
	shards     [][]int // examples of each shard of a full pass
	lanes      []*Lane // grown on demand
	truncators truncators
	findings   []*finding // grown on demand; lane l starts with finding l
	sums       []Sums     // of the shards of a step
	answered   []float64  // f_i of the examples of a step
	entropy    []float64  // of their answers, for losses that are smooth
	support    *support   // of the last step's gradient; nil if it is all weights
	reached    bool       // the support is that of the next step
	lent       int        // first lanes whose gradients are zero except on the support
	used       int        // number of findings of the last step
	norm       norm       // scratch memory
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
}

// Lane owns the scratch memory of one strand of work. It scores, evaluates and pulls back one shard after another.
type Lane struct {
	Shard                      // the current one
	Worker  nets.Worker        // of the objective's scorer
	precise nets.PreciseWorker // the same with sums in float64, for full passes; nil if the scorer has none
	soft    []float32          // scratch memory for thresholded weights
	rows    sparse.Rows        // those that the batch touches, for a point that needs them
	grad    []float32          // nil for sparse inputs
	dim     int                // of gradients
	wide    []float64          // the gradient of a full pass, if it is summed in float64; nil for sparse inputs
	full    bool               // whether grad may differ from zero anywhere
	doubly  doubleLane
	Err     error // the first error
}

// NewEngine returns an engine for the objective, on the host. It uses up to the given number of threads (at least 1).
func NewEngine(o *Objective, threads int) *Engine {
	all := make([]int, o.Data.Len())
	for i := range all {
		all[i] = i
	}
	linear, _ := o.Scorer.(*sparse.Linear)
	e := &Engine{
		Evaluation: NewEvaluation(o), sparse: linear, threads: max(1, threads), all: all, shards: shards(o.Data, all),
		support: newSupport(o.Scorer), group: ranks.Alone{},
	}
	e.most, e.home = passLanes, &sparseHome{Engine: e}
	if linear == nil {
		e.most, e.home = min(passLanes, max(2, laneWeights/max(1, o.Scorer.Dim()))), &denseHome{Engine: e}
	}
	if nets.Tunes(o.Scorer) {
		e.workers = make(chan nets.Worker, e.threads)
		for range e.threads {
			e.workers <- o.Scorer.NewWorker()
		}
	}
	e.precise, e.bounds = nets.NewPreciseWorker(o.Scorer) != nil, o.Scorer.Affine()
	e.splits = linear != nil // for products of D with weights (Step.Product)
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

// Threads returns how many threads the engine may use.
func (e *Engine) Threads() int { return e.threads }

// Sparse returns the scorer if it is linear in sparse inputs, else nil. Its steps touch few weights.
func (e *Engine) Sparse() *sparse.Linear { return e.sparse }

// NewLane returns a lane for the caller's own use, separate from the engine's lanes. It has no gradient vector.
func (e *Engine) NewLane() *Lane {
	ln := &Lane{
		Shard: *NewShard(e.kind.Oracle()), dim: e.Scorer.Dim(),
		Worker: e.Scorer.NewWorker(), precise: nets.NewPreciseWorker(e.Scorer),
	}
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
	e.Ask(&ln.Shard, s, wantMax)
	return nil
}
