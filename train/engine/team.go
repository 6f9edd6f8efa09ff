package engine

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// team does the work of an engine on the host: threads, the lanes that they work in, and what was found on shards that
// have to outlive them.
type team struct {
	threads int
	workers chan nets.Worker // one for each thread, of scorers whose workers are large; else nil
	newLane func() *Lane
	lanes   []*Lane        // grown on demand
	results []*shardResult // grown on demand; lane l starts with that of number l

	mutex      sync.Mutex          // of the oracles
	truncators []oracles.Truncator // oracles of lanes that change potentials for which they are not exact
}

// newTeam returns a team for a scorer.
func newTeam(threads int, scorer nets.Scorer, newLane func() *Lane) *team {
	t := &team{threads: max(1, threads), newLane: newLane}
	if nets.Tunes(scorer) {
		t.workers = make(chan nets.Worker, t.threads)
		for range t.threads {
			t.workers <- scorer.NewWorker()
		}
	}
	return t
}

// inLanes calls work(l, lane) for lanes lo to hi−1 on the team's threads and returns the error of the first lane that
// failed.
func (t *team) inLanes(ctx context.Context, lo, hi int, work func(l int, ln *Lane) error) error {
	t.growLanes(hi)
	t.growResults(hi)
	lanes := t.lanes
	t.parallel(hi-lo, func(l int) {
		l += lo
		if t.workers != nil {
			lanes[l].Worker = <-t.workers
			defer func() { t.workers <- lanes[l].Worker }()
		}
		lanes[l].shardResult = t.results[l]
		lanes[l].Err = host.Guard(func() error { return work(l, lanes[l]) })
	})
	for _, ln := range lanes[lo:hi] {
		if ln.Err != nil {
			return ln.Err
		}
	}
	return ctx.Err()
}

func (t *team) growLanes(n int) {
	for len(t.lanes) < n {
		t.lanes = append(t.lanes, t.newLane())
	}
}

func (t *team) growResults(n int) {
	for len(t.results) < n {
		t.results = append(t.results, &shardResult{})
	}
}

// parallel calls work(k) for k from 0 to n−1 on the team's threads. No call may panic.
func (t *team) parallel(n int, work func(k int)) {
	threads := min(t.threads, n)
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

// watch counts the changes that an oracle makes to potentials for which it is not exact, if it is one of that kind.
func (t *team) watch(oracle oracles.Maximiser) {
	if by, ok := oracle.(oracles.Truncator); ok {
		t.mutex.Lock()
		t.truncators = append(t.truncators, by)
		t.mutex.Unlock()
	}
}

// truncated returns how many times oracles have changed potentials since the last call.
func (t *team) truncated() (n int) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, by := range t.truncators {
		n += by.Truncated()
		by.ResetTruncated()
	}
	return n
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
