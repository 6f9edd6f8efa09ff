package engine

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/ranks"
)

// strands are parts of a pass or of a step that are evaluated on their own, and then added up in their order: lanes of
// shards, shards, or parts of a batch on a device. Each rank has some consecutive strands. It continues the sum of the
// ranks before it, piece by piece, so that the bits are those of one process, which is a group of one.
type strands interface {
	len() int
	// run evaluates strands lo to hi−1, those of this rank.
	run(ctx context.Context, lo, hi int) error
	// total returns the memory of what is added up.
	total() total
	// add adds strands lo to hi−1, in order, to pieces from to to−1 of the total. Strand 0 begins it.
	add(lo, hi, from, to int) error
	// end ends the evaluation of strands lo to hi−1 after they were added.
	end(lo, hi int) error
	// gather calls do with the memory of the numbers of strand k that every rank needs. It has not been evaluated here
	// unless known.
	gather(k int, known bool, do func(numbers []byte))
}

// total is what strands add up to, in pieces that pass from rank to rank, as many at a time as a window has. Ranks
// other than the last end with the first pieces alone, as many as all.
type total struct {
	pieces      [][]byte
	window, all int
}

// evaluateAndAdd evaluates strands and adds them up. It fails on all ranks of the group if potentials are not finite on
// one.
func (e *Engine) evaluateAndAdd(ctx context.Context, group ranks.Group, s strands) error {
	lo, hi := ranks.Share(group, s.len())
	failed := s.run(ctx, lo, hi)
	if endsRun(failed) {
		return failed
	}
	if t := s.total(); len(t.pieces) > 0 {
		err := group.SumToLast(ctx, t.pieces, t.all, t.window, func(from, to int) error {
			if failed != nil {
				return nil
			}
			return s.add(lo, hi, from, to)
		})
		if err != nil {
			return err
		}
	}
	if failed == nil {
		if failed = s.end(lo, hi); endsRun(failed) {
			return failed
		}
	}
	n, size := s.len(), group.Size()
	anyFailed, err := e.group.exchange.AllGather(ctx, group, failed != nil, func(rank int, do func([]byte)) {
		known := rank == group.Rank() && failed == nil
		for k := n * rank / size; k < n*(rank+1)/size; k++ {
			s.gather(k, known, do)
		}
	})
	if err == nil && anyFailed {
		err = sameOnAll(ctx, group, failed)
	}
	return err
}

// How many numbers of a gradient pass from rank to rank at once: pieceNumbers where ranks add to other pieces
// meanwhile, and mostNumbers where they do not.
const (
	pieceNumbers = 1 << 15
	mostNumbers  = 1 << 26
)

// cut cuts numbers into pieces that pass one by one, of which all ranks get the sums.
func cut[E any](x []E) total {
	t := total{pieces: cutBy(x, pieceNumbers), window: 1}
	t.all = len(t.pieces)
	return t
}

func cutBy[E any](x []E, each int) [][]byte {
	var pieces [][]byte
	for lo := 0; lo < len(x); lo += each {
		pieces = append(pieces, vec.Bytes(x[lo:min(lo+each, len(x))]))
	}
	return pieces
}

// eachPiece calls do for pieces from to to−1 of n numbers that cut has cut: numbers a to b−1.
func eachPiece(from, to, n int, do func(a, b int)) {
	for k := from; k < to; k++ {
		do(k*pieceNumbers, min((k+1)*pieceNumbers, n))
	}
}

// team does the work of an engine on the host: threads, the lanes that they work in, and what was found on shards that
// have to outlive them.
type team struct {
	threads int
	workers chan nets.Worker // one for each thread, of scorers whose workers are large; else nil
	newLane func(lent bool) *Lane
	lanes   []*Lane        // grown on demand
	results []*shardResult // grown on demand; lane l starts with that of number l

	mutex      sync.Mutex          // of the oracles
	truncators []oracles.Truncator // oracles of lanes that change potentials for which they are not exact
}

func newTeam(threads int, scorer nets.Scorer, newLane func(lent bool) *Lane) *team {
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
		t.lanes = append(t.lanes, t.newLane(t.workers != nil))
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

// score computes the potentials of a lane's batch, with dropout if the seed is not 0 and the scorer supports it.
func (w *Point) score(ln *Lane, dropout uint64) error {
	var err error
	worker, batch, θ, scratch := ln.Worker, &ln.Batch, &ln.Theta, &ln.φ
	if w.byRows {
		return worker.Score(w.touched(ln), batch, θ)
	}
	if soft, ok := worker.(nets.ThresholdWorker); ok && w.τ > 0 && w.box == nil {
		err = soft.ScoreThresholded(w.v, w.τ, batch, θ)
	} else if net, ok := worker.(nets.DropoutWorker); ok {
		err = net.ScoreDropout(w.weights(&ln.soft), dropout, batch, θ)
	} else {
		err = worker.Score(w.weights(&ln.soft), batch, θ)
	}
	if err != nil {
		return err
	}
	if w.q != 0 {
		if err := worker.Score(w.b, batch, scratch); err != nil {
			return err
		}
		for k := range θ.Parts {
			vec.Axpby(float32(w.q), scratch.Parts[k].Values, float32(w.p), θ.Parts[k].Values)
		}
	} else if w.p != 1 {
		for k := range θ.Parts {
			vec.Scale(float32(w.p), θ.Parts[k].Values)
		}
	}
	return nil
}

// touched returns weights that are w in the rows that the lane's batch touches.
func (w *Point) touched(ln *Lane) []float32 {
	ln.soft = vec.Grow(ln.soft, len(w.v))
	p, q, free := float32(w.p), float32(w.q), w.rows.Unshrunk()
	w.rows.Rows(&ln.Batch, &ln.rows)
	for _, row := range ln.rows.Index {
		lo, hi := w.rows.Row(row)
		τ := w.τ
		for _, r := range free {
			if lo >= r[0] && hi <= r[1] { // a row lies within a range or outside
				τ = 0
			}
		}
		for j := lo; j < hi; j++ {
			x := p * w.v[j]
			if q != 0 {
				x += q * w.b[j]
			}
			ln.soft[j] = w.softened(x, τ)
		}
	}
	return ln.soft
}

// Potentials computes θ + ℓ of the lane's batch at a point (ℓ only if the loss has one) and applies the constraints.
func (o *Objective) Potentials(ln *Lane, at Point) error { return o.potentials(ln, at, 0) }

// potentials is Potentials with dropout. Seed 0 turns dropout off.
func (o *Objective) potentials(ln *Lane, at Point, dropout uint64) error {
	b, θ := &ln.Batch, &ln.Theta
	ln.allowed.find(b)
	if err := at.score(ln, dropout); err != nil {
		return err
	}
	return o.Augment(b, θ)
}

// precisely is Potentials at w with sums in float64, if the scorer can take them.
func (o *Objective) precisely(ln *Lane, w []float32) error {
	if ln.precise == nil {
		return o.Potentials(ln, At(w))
	}
	ln.allowed.find(&ln.Batch)
	if err := ln.precise.ScorePrecisely(w, 0, &ln.Batch, &ln.Theta); err != nil {
		return err
	}
	return o.Augment(&ln.Batch, &ln.Theta)
}
