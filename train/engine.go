package train

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
	"github.com/dsp-go/dsp/structured/host"
)

// A pass over the data is cut into shards and its shards are dealt to lanes; both depend on the data alone. Each lane
// adds up its own shards in order and the lanes are added up in order, so that sums have the same bits whatever the
// number of threads that ran the lanes. The same holds for the shards of a step's batch.
const (
	passLanes      = 16  // lanes at most: with dense inputs each has a gradient of the size of the weights
	shardPositions = 512 // positions of a full pass's shard, unless one chain is longer
	stepExamples   = 8   // examples of a step's shard
)

// Engine evaluates an Objective on whole data sets and on batches, in parallel. It is not safe for concurrent use.
//
// A scorer of dense inputs has its gradients pulled back in the lanes, each into a vector of its own. That of sparse
// inputs has more weights than that is good for, and each of its examples touches few of them: there the lanes end in
// potential space, and what they found is scattered, in order, straight to where it is wanted (gradient.go).
type Engine struct {
	*Objective
	Dropout uint64         // seed of the networks' dropout in steps; 0: off, as it always is in full passes
	device  Accelerator    // does the work, or nil
	sparse  *sparse.Linear // the scorer, if it is that
	kind    kinds.Kind
	threads int
	all     []int
	shards  [][]int  // examples of each shard of a full pass
	lanes   []*lane  // grown on demand
	pieces  []*piece // grown on demand; a lane's first is the one of its number
	sums    []Sums   // of the shards of a step
	used    int      // pieces of the last step
	norm    norm     // scratch memory
}

// piece is a shard and what was found about it. It may have to outlive the lane's work on it.
type piece struct {
	batch  structured.Batch
	answer oracles.Answer
	v      structured.Marginals // what is pulled back
}

// lane owns the scratch memory of one strand of work.
type lane struct {
	*piece  // at work
	worker  nets.Worker
	oracle  oracles.Maximiser
	θ       structured.Potentials // with ℓ added
	φ       structured.Potentials // at other weights
	allowed allowed
	before  structured.Marginals // the answers at another point
	y       []int32
	values  []float64
	grad    []float32 // nil for sparse inputs
	sums    Sums
	err     error
}

// Sums are what is added up over examples, each times its weight c_i.
type Sums struct {
	Primal   float64 // f_i
	Smoothed float64 // f_i with the smoothed max
	Linear   float64 // ⟨u_i − r_i, θ_i + ℓ_i⟩, r_i the gold output or the memory
	Loss     float64 // ⟨u_i − r_i, ℓ_i⟩
	Entropy  float64 // entropy of u_i, where the loss is a log-partition function
	Scores   float64 // |h_i| + |⟨1_{y_i}, θ_i⟩|, which rounding is relative to; 0 from a device
	Exact    int     // answers of an exact smoothing
	Moved    int     // answers that differ from the memory
}

func (s *Sums) add(t Sums) {
	s.Primal += t.Primal
	s.Smoothed += t.Smoothed
	s.Linear += t.Linear
	s.Loss += t.Loss
	s.Entropy += t.Entropy
	s.Scores += t.Scores
	s.Exact += t.Exact
	s.Moved += t.Moved
}

// NewEngine returns an engine for the objective that uses up to the given number of threads (at least 1).
func NewEngine(o *Objective, threads int) *Engine {
	all := make([]int, o.Data.Len())
	for i := range all {
		all[i] = i
	}
	sparse, _ := o.Scorer.(*sparse.Linear)
	structure := o.Scorer.Form().Structure
	if o.Task == nil {
		o.Task = structure.Hamming()
	}
	return &Engine{Objective: o, kind: kinds.Of(structure), sparse: sparse, threads: max(1, threads), all: all, shards: shards(o.Data, all)}
}

// shards cuts examples into runs of at most shardPositions positions, or one example.
func shards(data *structured.Dataset, examples []int) [][]int {
	var cut [][]int
	lo, size := 0, 0
	for k, i := range examples {
		if t := data.Length(i); size+t > shardPositions && k > lo {
			cut = append(cut, examples[lo:k])
			lo, size = k, 0
		}
		size += data.Length(i)
	}
	if lo < len(examples) {
		cut = append(cut, examples[lo:])
	}
	return cut
}

// Len returns n, the number of examples.
func (e *Engine) Len() int { return e.Data.Len() }

// run does work(l, lane) for lanes 0 to n-1 on the engine's threads and returns the first lane's error, in lane order.
func (e *Engine) run(ctx context.Context, n int, work func(l int, ln *lane) error) error {
	for len(e.lanes) < n {
		ln := &lane{worker: e.Scorer.NewWorker(), oracle: e.kind.Oracle()}
		if e.sparse == nil {
			ln.grad = make([]float32, e.Scorer.Dim())
		}
		e.lanes = append(e.lanes, ln)
	}
	e.growPieces(n)
	lanes := e.lanes[:n]
	e.parallel(n, func(l int) {
		lanes[l].piece = e.pieces[l]
		lanes[l].err = host.Guard(func() error { return work(l, lanes[l]) })
	})
	for _, ln := range lanes {
		if ln.err != nil {
			return ln.err
		}
	}
	return ctx.Err()
}

func (e *Engine) growPieces(n int) {
	for len(e.pieces) < n {
		e.pieces = append(e.pieces, &piece{})
	}
}

// parallel does work(k) for k from 0 to n-1 on the engine's threads.
func (e *Engine) parallel(n int, work func(k int)) {
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

// overShards does work on every shard and returns the sums of the lanes. With a g [Dim] it adds Jᵀv to that, for the v
// that work leaves in its lane.
func (e *Engine) overShards(ctx context.Context, shards [][]int, g []float32, work func(ln *lane) error) (Sums, error) {
	n := min(passLanes, len(shards))
	round := len(shards) // shards between two scatters
	if e.sparse != nil && g != nil {
		round = n
	}
	var total Sums
	for first := 0; first < len(shards); first += round {
		now := shards[first:min(first+round, len(shards))]
		m := min(n, len(now))
		err := e.run(ctx, m, func(l int, ln *lane) error {
			if first == 0 {
				ln.sums = Sums{}
				if g != nil {
					clear(ln.grad)
				}
			}
			for k := l; k < len(now) && ctx.Err() == nil; k += n {
				ln.batch.Reset(e.Data, now[k])
				if err := work(ln); err != nil {
					return err
				}
				if g != nil && e.sparse == nil {
					if err := ln.worker.Pullback(&ln.v, ln.grad); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return total, err
		}
		if g != nil {
			e.gradient(m, m).AddTo(1, g)
		}
	}
	for _, ln := range e.lanes[:n] {
		total.add(ln.sums)
	}
	return total, nil
}

// ask scores the lane's batch at a point, asks the smoothed oracle and adds to the lane's sums all that needs no reference.
func (e *Engine) ask(ln *lane, at point, s oracles.Smoothing, wantMax bool) error {
	if err := e.potentials(ln, at); err != nil {
		return err
	}
	s = e.smoothing(s)
	wantMax = wantMax && !e.Loss.Smooth()
	s.Answer(ln.oracle, &ln.θ, &ln.answer, wantMax)
	e.askAllowed(ln, s, wantMax)
	for b, i := range ln.batch.Examples {
		c := e.Data.Weight(i)
		gold, most := e.gold(ln, b)
		smoothed := c * e.loss(ln.answer.Value[b], gold)
		ln.sums.Smoothed += smoothed
		ln.sums.Scores += c * (math.Abs(ln.answer.Value[b]) + math.Abs(gold))
		switch {
		case e.Loss.Smooth():
			ln.sums.Primal += smoothed
			ln.sums.Entropy += c * (ln.answer.Value[b] - ln.answer.U.Dot(b, &ln.θ))
		case wantMax:
			ln.sums.Primal += c * e.loss(ln.answer.Max[b], most)
		}
		if ln.answer.Exact[b] && e.exactGold(ln, b) {
			ln.sums.Exact++
		}
	}
	return nil
}

// difference sets the lane's v to c_i(u_i − r_i), example by example, where r_i is the memory or (nil) the gold output.
func (e *Engine) difference(ln *lane, memory *Memory) {
	ln.v.Copy(&ln.answer.U)
	for b, i := range ln.batch.Examples {
		if memory == nil {
			e.subtractGold(ln, b)
		} else {
			memory.subtract(i, &ln.v, b)
		}
		c := e.Data.Weight(i)
		ln.sums.Linear += c * ln.v.Dot(b, &ln.θ)
		if e.sparse != nil && e.Loss != CRF {
			ln.sums.Loss += c * e.Task.Dot(&ln.v, b, ln.batch.GoldOf(b))
		}
		if memory == nil || !ln.v.Zero(b) {
			ln.sums.Moved++
		}
		if c != 1 {
			ln.v.Scale(b, float32(c))
		}
	}
}
