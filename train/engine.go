package train

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// A pass over the data is cut into shards and its shards are dealt to lanes; both depend on the data alone. Each lane
// adds up its own shards in order and the lanes are added up in order, so that sums have the same bits whatever the
// number of threads that ran the lanes.
const (
	passLanes      = 16  // lanes of a full pass
	shardPositions = 512 // positions of a full pass's shard, unless one chain is longer
	stepExamples   = 8   // examples of a step's shard
)

// Engine evaluates an Objective on whole data sets and on batches, in parallel. It is not safe for concurrent use.
type Engine struct {
	*Objective
	Dropout uint64 // seed of the networks' dropout in steps; 0: off, as it always is in full passes
	threads int
	shards  [][]int // examples of each shard of a full pass
	lanes   []*lane // grown on demand
	used    int     // lanes that took part in the last step
}

// lane owns the scratch memory of one strand of work.
type lane struct {
	worker nets.Worker
	oracle oracles.Oracle
	batch  structured.Batch
	θ      structured.Potentials // with ℓ added
	answer oracles.Answer
	v      structured.Marginals // what is pulled back
	labels []int32
	values []float64
	grad   []float32
	sums   sums
	err    error
}

// sums are what a lane adds up over its examples, each times its weight c_i.
type sums struct {
	primal   float64 // f_i
	smoothed float64 // f_i with the smoothed max
	linear   float64 // ⟨u_i − r_i, θ_i + ℓ_i⟩, r_i the gold output or the memory
	entropy  float64 // entropy of u_i, where the loss is a log-partition function
	exact    int     // answers of an exact smoothing
	moved    int     // answers that differ from the memory
}

func (s *sums) add(t sums) {
	s.primal += t.primal
	s.smoothed += t.smoothed
	s.linear += t.linear
	s.entropy += t.entropy
	s.exact += t.exact
	s.moved += t.moved
}

// NewEngine returns an engine for the objective that uses up to the given number of threads (at least 1).
func NewEngine(o *Objective, threads int) *Engine {
	all := make([]int, o.Data.Len())
	for i := range all {
		all[i] = i
	}
	return &Engine{Objective: o, threads: max(1, threads), shards: shards(o.Data, all)}
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
		e.lanes = append(e.lanes, &lane{
			worker: e.Scorer.NewWorker(),
			oracle: oracles.NewChain(),
			grad:   make([]float32, e.Scorer.Dim()),
		})
	}
	lanes := e.lanes[:n]
	if threads := min(e.threads, n); threads == 1 {
		for l, ln := range lanes {
			ln.err = structured.Guard(func() error { return work(l, ln) })
		}
	} else {
		var next atomic.Int64
		var wg sync.WaitGroup
		for range threads {
			wg.Go(func() {
				for l := int(next.Add(1)) - 1; l < n; l = int(next.Add(1)) - 1 {
					lanes[l].err = structured.Guard(func() error { return work(l, lanes[l]) })
				}
			})
		}
		wg.Wait()
	}
	for _, ln := range lanes {
		if ln.err != nil {
			return ln.err
		}
	}
	return ctx.Err()
}

// ask scores the lane's batch at w, asks the smoothed oracle and adds to the lane's sums all that needs no reference.
func (e *Engine) ask(ln *lane, w []float32, s oracles.Smoothing, wantMax bool) error {
	if err := e.potentials(ln.worker, w, &ln.batch, &ln.θ); err != nil {
		return err
	}
	s = e.smoothing(s)
	wantMax = wantMax && !e.Loss.Smooth()
	s.Answer(ln.oracle, &ln.θ, &ln.answer, wantMax)
	for b, i := range ln.batch.Examples {
		c := e.Data.Weight(i)
		gold := ln.θ.Score(b, ln.batch.Gold(b)) // ℓ_i is zero on the gold output
		smoothed := c * (ln.answer.Value[b] - gold)
		ln.sums.smoothed += smoothed
		switch {
		case e.Loss.Smooth():
			ln.sums.primal += smoothed
			ln.sums.entropy += c * (ln.answer.Value[b] - ln.answer.U.Dot(b, &ln.θ))
		case wantMax:
			ln.sums.primal += c * (ln.answer.Max[b] - gold)
		}
		if ln.answer.Exact[b] {
			ln.sums.exact++
		}
	}
	return nil
}

// difference sets the lane's v to c_i(u_i − r_i), chain by chain, where r_i is the memory or (nil) the gold output.
func (e *Engine) difference(ln *lane, memory *Memory) {
	u := &ln.answer.U
	ln.v.Resize(u.Offsets, u.Y, u.PerPosition)
	copy(ln.v.Node, u.Node)
	copy(ln.v.Edge, u.Edge)
	for b, i := range ln.batch.Examples {
		if memory == nil {
			ln.v.AddLabeling(b, ln.batch.Gold(b), -1)
		} else {
			memory.subtract(i, &ln.v, b)
		}
		c := e.Data.Weight(i)
		ln.sums.linear += c * ln.v.Dot(b, &ln.θ)
		if memory == nil || !zero(ln.v.NodeOf(b)) || !zero(ln.v.EdgeOf(b)) {
			ln.sums.moved++
		}
		if c != 1 {
			vec.Scale(float32(c), ln.v.NodeOf(b))
			vec.Scale(float32(c), ln.v.EdgeOf(b))
		}
	}
}

func zero(x []float32) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// reduce adds up the first n lanes in order: their sums into the result, their gradients into lane 0's.
func (e *Engine) reduce(n int) sums {
	total := e.lanes[0].sums
	for _, ln := range e.lanes[1:n] {
		total.add(ln.sums)
		vec.Axpy(1, ln.grad, e.lanes[0].grad)
	}
	return total
}
