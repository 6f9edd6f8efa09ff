// Package engine evaluates the objective: full passes over the data, steps on batches, values. The notation is that of
// package train.
//
// Methods run on the host and leave the bulk of the work, full passes and steps, to the Engine. The Engine may have an
// Accelerator: a device that holds the data, scorer, iterates and memories. Each method is written once for both cases.
// Gradient, Step, Memory, Path and Descent are handles, and numbers come to the host only when a method reads them.
package engine

import (
	"context"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
)

// Engine evaluates an Objective on whole data sets and on batches, in parallel. It is not safe for concurrent use.
//
// With dense inputs each lane pulls gradients back into its own vector. With sparse inputs there are too many weights
// for that, and each example touches few of them. The lanes then stop in potential space, and their results are
// scattered, in order, straight into the destination (rowaccess.go).
type Engine struct {
	*Evaluation
	backend backend        // where the work is done: on the host or on a device
	access  access         // of gradients on the host, of dense or of sparse inputs
	sparse  *sparse.Linear // the access by rows that rowAccess has
	layout  layout         // how passes deal the examples
	team    *team          // threads, lanes, and what was found on shards
	last    batchResults   // of the last step
	touched *touchedRows   // by the gradient of the last step, or of the next
	doubles doublePasses   // full passes of certificates that are in float64 throughout
	group   group          // of ranks, which share the work of passes and steps
	vectors vectors        // memory for gradients and for vectors of methods
	soft    softSearch     // scratch memory
}

// access is how an engine on the host reaches weights, and so where it keeps gradients: for dense inputs in vectors,
// one for each lane (denseaccess.go), and for sparse ones in potential space, since steps touch few rows
// (rowaccess.go).
type access interface {
	// pass evaluates the shards of a pass and adds up their sums and gradients; these on the last rank alone, if
	// toLast.
	pass(ctx context.Context, p pass, toLast bool) error
	// step evaluates a batch and returns its gradient.
	step(ctx context.Context, s stepLanes) (Gradient, error)
	// lower returns the linear lower bound on the mean loss that a dual point proves, from the sums over examples at w
	// and the sum g of their gradients, as pass leaves it with toLast.
	lower(ctx context.Context, w []float32, g []float64, sums Sums) (Recomposed, error)
	// mostRanks returns how many ranks can have a share of a pass, and examplesOf those that a rank has, in the order
	// of the shards.
	mostRanks() int
	examplesOf(rank int) []int
	// gradients returns how many vectors so many lanes have for gradients.
	gradients(lanes int) int
	// roundWeights returns what the rounds of dual methods know of the weights.
	roundWeights() roundWeights
	pathStepper(x *AffinePath) pathStepper
	// erase sets to zero all weights of w that a pullback of v changes.
	erase(v *structured.Marginals, batch *structured.Batch, w []float32)
}

// NewEngine returns an engine for the objective, on the host. It uses up to the given number of threads (at least 1).
func NewEngine(o *Objective, threads int) *Engine {
	linear, byRows := o.Scorer.(*sparse.Linear)
	e := &Engine{
		Evaluation: NewEvaluation(o), sparse: linear, layout: newLayout(o.Data, o.Scorer.Dim(), byRows),
		touched: newTouchedRows(o.Scorer), group: alone(),
	}
	e.team = newTeam(threads, o.Scorer, e.lane)
	if byRows {
		e.access = &rowAccess{Engine: e}
	} else {
		e.access = &denseAccess{Engine: e}
	}
	e.precise, e.bounds = nets.NewPreciseWorker(o.Scorer) != nil, o.Scorer.Affine()
	e.splits = byRows // for products of D with weights (Step.Product)
	e.backend = hostBackend{e}
	return e
}

// Threads returns how many threads the engine may use.
func (e *Engine) Threads() int { return e.team.threads }

// Rows returns the access by rows to the weights of a scorer that is linear in sparse inputs, and whether there is one.
// Those ask that are other algorithms with it, as a step then touches few rows: dual coordinate ascent, the rows that
// sp-bcfw lets play, the planes of n-slack; and the search for a rate of sgd, since few examples have an attribute.
func (e *Engine) Rows() (rows *sparse.Linear, ok bool) {
	rows, ok = e.Scorer.(*sparse.Linear)
	return rows, ok
}

// AttributesAlone reports whether a step touches the weights of the batch's own attributes, and no others but those
// that all examples share.
func (e *Engine) AttributesAlone() bool {
	rows, ok := e.Rows()
	return ok && !rows.HasDense()
}

// Erase sets to zero all weights of w that a pullback of v changes.
func (e *Engine) Erase(v *structured.Marginals, batch *structured.Batch, w []float32) {
	e.access.erase(v, batch, w)
}

// NewLane returns a lane for the caller's own use, separate from the engine's lanes. It has no gradient vector.
func (e *Engine) NewLane() *Lane { return e.lane(false) }

// lane returns one with a worker of its own, unless threads lend it one for its work.
func (e *Engine) lane(lent bool) *Lane {
	ln := &Lane{Shard: *NewShard(e.kind.Oracle()), dim: e.Scorer.Dim(), precise: nets.NewPreciseWorker(e.Scorer)}
	if !lent {
		ln.Worker = e.Scorer.NewWorker()
	}
	e.team.watch(ln.Oracle)
	return ln
}

// Truncated returns how many times the oracles have changed potentials since the last call, because they are not exact
// for them. Values that were computed meanwhile may be bounds. No lane may be at work.
func (e *Engine) Truncated() int {
	n := e.team.truncated()
	if a, ok := e.backend.accelerator().(TruncatingAccelerator); ok {
		n += a.Truncated()
	}
	return e.ofAllRanks(n)
}

// Parallel calls work(k) for k from 0 to n-1 on the engine's threads. No call may panic.
func (e *Engine) Parallel(n int, work func(k int)) { e.team.parallel(n, work) }
