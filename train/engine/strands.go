package engine

import (
	"context"
	"errors"

	"github.com/dsp-go/dsp/structured"
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

// endsRun reports whether an error ends the run of this process, of which the others learn. Potentials that are not
// finite do not: methods go on after them, alike on all ranks.
func endsRun(err error) bool {
	if err == nil {
		return false
	}
	var bad *NonFiniteError
	return !errors.As(err, &bad)
}

// SameOnAll returns err if it ends the run, and else the first rank's error that says that potentials are not finite.
func (e *Engine) SameOnAll(ctx context.Context, err error) error {
	return sameOnAll(ctx, e.group.Group, err)
}

func sameOnAll(ctx context.Context, group ranks.Group, err error) error {
	if endsRun(err) || group.Size() == 1 {
		return err
	}
	var x ranks.Exchange
	if anyFailed, lost := x.AllGather(ctx, group, err != nil, func(int, func([]byte)) {}); lost != nil || !anyFailed {
		return lost
	}
	var mine []byte
	var bad *NonFiniteError
	if errors.As(err, &bad) {
		mine = append([]byte{1}, bad.Where...)
	}
	all, lost := group.AllGather(ctx, mine)
	for _, x := range all {
		if len(x) > 0 {
			return &NonFiniteError{Where: string(x[1:])}
		}
	}
	return lost
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

// overShards runs work on every shard and returns the sums over the lanes. Unless g [Dim] is nil, it adds Jᵀv to g,
// where v is what work leaves in its lane. It sums in float64 if the scorer can, and else in float32.
func (e *Engine) overShards(ctx context.Context, shards [][]int, g []float64, work func(ln *Lane) error) (Sums, error) {
	return e.sumOverShards(ctx, shards, g, false, work)
}

// sumOverShards is overShards. With toLast, g may have the sum on the last rank alone, as lower takes it.
func (e *Engine) sumOverShards(ctx context.Context, shards [][]int, g []float64, toLast bool,
	work func(ln *Lane) error) (Sums, error) {
	p := pass{engine: e, shards: shards, g: g, work: work, sums: make([]Sums, min(e.layout.lanes, len(shards)))}
	err := e.access.pass(ctx, p, toLast)
	var total Sums
	for _, s := range p.sums {
		total.add(s)
	}
	return total, err
}

// pass is work on the shards of a full pass.
type pass struct {
	engine *Engine
	shards [][]int
	g      []float64 // the gradient, or nil
	work   func(ln *Lane) error
	sums   []Sums // by lane
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
