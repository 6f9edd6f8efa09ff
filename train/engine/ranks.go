package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train/ranks"
)

// With a group of ranks, each rank does a share of the work of a pass or a step, and all of them end with the same sums, whose bits are those
// of one process. For that, numbers are added in its order:
//
//   - with dense inputs, one process sums shards into lanes, and then the lanes in order. So each rank has some consecutive lanes. The sum of
//     lanes passes through the ranks (Group.Sum), piece by piece, and each adds its own.
//   - with sparse inputs, one process adds all shards to the gradient in order. So each rank has some consecutive shards, whose attributes it needs
//     and no others, asks the oracle about all of them, and then adds them to the gradient that the ranks before have begun; many ranks add to some stripes at a time, while the next rank
//     adds to those before. The sums of lanes, which go through all shards, are added again from a journal. The last rank has the whole gradient in float64, and gives
//     the others what they need of it, which is half as long (lower).
//
// A step on sparse inputs keeps its gradient in potential space. There the ranks exchange marginals instead.

// ErrFewStrands is why some data are too small for so many ranks.
var ErrFewStrands = errors.New("each rank needs one")

// Join shares the work of passes and steps with the ranks of a group. All ranks must call the same methods in the same order. On a device they share what is cut into
// parts (Cut), and the values of the objective: else each rank does the whole of a step or of a full pass with a gradient, so there the ranks should take steps of their own
// (Alone, Average).
func (e *Engine) Join(g ranks.Group) error {
	if g.Size() == 1 {
		return nil
	}
	if most := e.MostRanks(); g.Size() > most {
		return structured.BadInput("ranks: %d, strands of the sum over these examples: %d, and %w; start at most %d", g.Size(), most, ErrFewStrands, most)
	}
	e.group = g
	return nil
}

// Ranks returns the group that shares the work.
func (e *Engine) Ranks() ranks.Group {
	if e.group == nil {
		return ranks.Alone{}
	}
	return e.group
}

// MostRanks returns how many ranks can have a share of a pass.
func (e *Engine) MostRanks() int {
	switch {
	case e.parts > 1:
		return e.parts
	case e.sparse != nil:
		return max(1, len(e.shards))
	}
	return max(1, min(e.most, len(e.shards)))
}

// ShareOf returns the share of a rank (structured.Dataset.TakeShare) whose attributes it needs in full passes over data with sparse inputs, which need not be
// there yet.
func ShareOf(ctx context.Context, g ranks.Group) *structured.Share {
	return &structured.Share{
		Process: g.Rank(), Processes: g.Size(),
		Cut: func(data *structured.Dataset) (first, last int) {
			all := make([]int, data.Len())
			for i := range all {
				all[i] = i
			}
			cut := append(shards(data, all), []int{data.Len()})
			lo, hi := ranks.Share(g, len(cut)-1)
			return cut[lo][0], cut[hi][0]
		},
		Gather: func(mine []byte) ([][]byte, error) { return g.Gather(ctx, mine) },
		Pass: func(state []byte, add func() error) error {
			return g.Sum(ctx, [][]byte{state}, 1, func(int, int) error { return add() })
		},
	}
}

// sharedSums is memory for sums of several ranks.
type sharedSums struct {
	runs     []run       // shards of this rank
	packed   [][]float64 // the weights of each stripe, one after the other
	gradient []float32   // [Dim] of a step
	lent     bool        // gradient differs from zero on the support
	values   []float32   // those of it on the support, packed
	spans    []packed    // where these lie in it
	parts    [][]float32 // gradients of this rank's parts of a batch on a device
	message  []byte      // what all ranks tell of a step
	ends     []int       // where each rank's part of it ends
	all      []int       // scratch memory: examples
}

// run is a shard, with what remains to be done with it.
type run struct {
	batch   structured.Batch
	v       structured.Marginals
	doubles structured.Doubles
	journal []Sums
}

// How many numbers of a gradient pass from rank to rank at once: pieceNumbers where ranks add to other pieces meanwhile, and mostNumbers where they do not.
const (
	pieceNumbers = 1 << 15
	mostNumbers  = 1 << 26
)

// cut cuts numbers into pieces.
func cut[E any](x []E) [][]byte { return cutBy(x, pieceNumbers) }

func cutBy[E any](x []E, each int) [][]byte {
	var pieces [][]byte
	for lo := 0; lo < len(x); lo += each {
		pieces = append(pieces, ranks.Bytes(x[lo:min(lo+each, len(x))]))
	}
	return pieces
}

// overSharesOfLanes is overShards for ranks that have some of the lanes each.
func (e *Engine) overSharesOfLanes(ctx context.Context, shards [][]int, g []float64, work func(ln *Lane) error) (Sums, error) {
	n := min(e.most, len(shards))
	lo, hi := ranks.Share(e.group, n)
	err := e.runLanes(ctx, lo, hi, func(l int, ln *Lane) error {
		ln.Sums = Sums{}
		if g != nil {
			e.clearGradient(ln)
		}
		for k := l; k < len(shards) && ctx.Err() == nil; k += n {
			ln.Batch.Reset(e.Data, shards[k])
			if err := work(ln); err != nil {
				return err
			}
			if g != nil {
				if err := e.pullback(ln); err != nil {
					return err
				}
			}
		}
		return nil
	})
	var total Sums
	if err = e.SameOnAll(ctx, err); err != nil {
		return total, err
	}
	all := make([]Sums, n)
	for l := lo; l < hi; l++ {
		all[l] = e.lanes[l].Sums
	}
	if err = e.complete(ctx, ranks.Bytes(all), n, len(ranks.Bytes(all[:1]))); err != nil {
		return total, err
	}
	for _, s := range all {
		total.add(s)
	}
	switch {
	case g == nil:
	case e.precise:
		err = e.group.Sum(ctx, cut(g), 1, func(k, _ int) error {
			to := g[k*pieceNumbers : min((k+1)*pieceNumbers, len(g))]
			for _, ln := range e.lanes[lo:hi] {
				for j, x := range ln.wide[k*pieceNumbers:][:len(to)] {
					to[j] += x
				}
			}
			return nil
		})
	default:
		e.narrow = vec.Grow(e.narrow, len(g))
		clear(e.narrow)
		err = e.group.Sum(ctx, cut(e.narrow), 1, func(k, _ int) error {
			to := e.narrow[k*pieceNumbers : min((k+1)*pieceNumbers, len(g))]
			for _, ln := range e.lanes[lo:hi] {
				vec.Axpy(1, ln.grad[k*pieceNumbers:][:len(to)], to)
			}
			return nil
		})
		for j, x := range e.narrow {
			g[j] += float64(x)
		}
	}
	return total, err
}

// overRunsOfShards is overShards for ranks that have a run of consecutive shards each.
func (e *Engine) overRunsOfShards(ctx context.Context, shards [][]int, g []float64, toLast bool, work func(ln *Lane) error) (Sums, error) {
	lanes, x := min(e.most, len(shards)), &e.shared
	lo, hi := ranks.Share(e.group, len(shards))
	for len(x.runs) < hi-lo {
		x.runs = append(x.runs, run{})
	}
	runs := x.runs[:hi-lo]
	threads := min(e.most, len(runs))
	err := e.run(ctx, threads, func(l int, ln *Lane) error {
		defer func() { ln.journal = nil }()
		for k := l; k < len(runs) && ctx.Err() == nil; k += threads {
			r := &runs[k]
			r.journal = r.journal[:0]
			ln.journal = &r.journal
			ln.Batch.Reset(e.Data, shards[lo+k])
			if err := work(ln); err != nil {
				return err
			}
			r.batch, ln.Batch = ln.Batch, r.batch
			r.v, ln.V = ln.V, r.v
			r.doubles, ln.doubles = ln.doubles, r.doubles
		}
		return nil
	})
	if err = e.SameOnAll(ctx, err); err != nil {
		return Sums{}, err
	}
	sums := make([]Sums, lanes)
	pieces, windows := [][]byte{ranks.Bytes(sums)}, e.windows()
	switch {
	case g == nil:
	case windows == 1:
		pieces = append(pieces, cutBy(g, mostNumbers)...)
	default:
		pieces = append(pieces, e.pack()...)
	}
	all := len(pieces)
	if toLast {
		all = 1
	}
	err = e.group.SumToLast(ctx, pieces, all, (len(pieces)+windows-1)/windows, func(from, to int) error {
		if from == 0 {
			for i := range runs {
				for _, s := range runs[i].journal {
					sums[(lo+i)%lanes].add(s)
				}
			}
		}
		if g == nil {
			return nil
		}
		first, n := max(0, from-1), to-max(1, from) // stripes
		if windows == 1 {
			n = sparse.Stripes
		}
		parts := min(e.threads, n)
		e.Parallel(parts, func(k int) { e.addRuns(runs, first+n*k/parts, first+n*(k+1)/parts, windows > 1, g) })
		return nil
	})
	if g != nil && windows > 1 && (!toLast || e.group.Rank() == e.group.Size()-1) {
		for k, packed := range x.packed {
			e.unpack(k, packed, g)
		}
	}
	var total Sums
	for _, s := range sums {
		total.add(s)
	}
	return total, err
}

// windows returns in how many parts a gradient passes through the ranks. With several, the ranks after the first begin sooner; but each costs another look
// at all attributes of the rank's examples, so that few ranks are faster one after the other.
func (e *Engine) windows() int { return min(max(1, e.group.Size()/2), sparse.Stripes) }

// pack returns memory for zeros, one piece for each stripe.
func (e *Engine) pack() (pieces [][]byte) {
	x := &e.shared
	x.packed = vec.Grow(x.packed, sparse.Stripes)
	for k := range x.packed {
		n := 0
		e.sparse.Stripe(k, func(lo, hi int) { n += hi - lo })
		x.packed[k] = vec.Grow(x.packed[k], n)
		clear(x.packed[k])
		pieces = append(pieces, ranks.Bytes(x.packed[k]))
	}
	return pieces
}

// addRuns adds the pullback of this rank's shards to stripes from to to−1 of a gradient, which may be packed.
func (e *Engine) addRuns(runs []run, from, to int, packed bool, g []float64) {
	for k := from; k < to && packed; k++ {
		e.unpack(k, e.shared.packed[k], g)
	}
	for i := range runs {
		e.scatterWide(&runs[i].v, runs[i].doubles, &runs[i].batch, from, to, g)
	}
	for k := from; k < to && packed; k++ {
		at := 0
		e.sparse.Stripe(k, func(lo, hi int) { at += copy(e.shared.packed[k][at:], g[lo:hi]) })
	}
}

// unpack copies a packed stripe to its weights in g.
func (e *Engine) unpack(stripe int, packed, g []float64) {
	e.sparse.Stripe(stripe, func(lo, hi int) {
		copy(g[lo:hi], packed)
		packed = packed[hi-lo:]
	})
}

// examplesOf returns the examples that a rank has in full passes, in the order of the shards: with sparse inputs in a run of shards, else in lanes.
func (e *Engine) examplesOf(rank int) []int {
	of, size := e.shared.all[:0], e.group.Size()
	if e.sparse != nil {
		for _, shard := range e.shards[len(e.shards)*rank/size : len(e.shards)*(rank+1)/size] {
			of = append(of, shard...)
		}
	} else {
		n := min(e.most, len(e.shards))
		for l := n * rank / size; l < n*(rank+1)/size; l++ {
			for k := l; k < len(e.shards); k += n {
				of = append(of, e.shards[k]...)
			}
		}
	}
	e.shared.all = of
	return of
}

// exchange completes marginals of all examples, of which each rank has those of its own examples.
func (e *Engine) exchange(ctx context.Context, u *structured.Marginals) error {
	if e.group == nil {
		return nil
	}
	each := func(rank int, do func(x []byte)) { // for the numbers of a rank
		for _, i := range e.examplesOf(rank) {
			for k := range u.Parts {
				do(ranks.Bytes(u.Parts[k].Of(i)))
			}
		}
	}
	ends, mine, total := e.shared.ends[:0], 0, 0
	for rank := range e.group.Size() {
		if rank == e.group.Rank() {
			mine = total
		}
		each(rank, func(x []byte) { total += len(x) })
		ends = append(ends, total)
	}
	e.shared.ends = ends
	all, at := make([]byte, total), mine // not kept: it is as large as the memory of all answers
	each(e.group.Rank(), func(x []byte) { at += copy(all[at:], x) })
	if err := e.group.Complete(ctx, all, ends); err != nil {
		return err
	}
	at = 0
	for rank := range ends {
		each(rank, func(x []byte) { at += copy(x, all[at:]) })
	}
	return nil
}

// exchangeMemory completes a memory of the answers of a full pass.
func (e *Engine) exchangeMemory(ctx context.Context, m *Memory) error {
	if e.group == nil {
		return nil
	}
	for k := range m.rest {
		clear(m.rest[k])
	}
	return e.exchange(ctx, &m.Marginals)
}

// allRanksHave sets each of some facts to whether it holds on all ranks.
func (e *Engine) allRanksHave(ctx context.Context, facts []bool) error {
	if e.group == nil {
		return nil
	}
	all, err := e.group.Gather(ctx, ranks.Bytes(facts))
	if err != nil {
		return err
	}
	for _, x := range all {
		for k := range facts {
			facts[k] = facts[k] && x[k] != 0
		}
	}
	return nil
}

// ofAllRanks returns the sum of a count over the ranks. A rank that is lost has none: the next call says so.
func (e *Engine) ofAllRanks(n int) int {
	if e.group == nil {
		return n
	}
	all, err := e.group.Gather(context.Background(), ranks.Bytes([]int64{int64(n)}))
	if err != nil {
		return n
	}
	total := 0
	for _, x := range all {
		count := make([]int64, 1)
		_ = ranks.Numbers(x, count)
		total += int(count[0])
	}
	return total
}

func (e *Engine) growLanes(n int) {
	for len(e.lanes) < n {
		e.lanes = append(e.lanes, e.NewLane())
	}
}

// SameOnAll returns the error of this rank's share or, if that of another rank has potentials that are not finite, that one: methods that go on
// after such an error go on alike on all ranks.
func (e *Engine) SameOnAll(ctx context.Context, err error) error {
	if e.group == nil {
		return err
	}
	var bad *NonFiniteError
	if err != nil && !errors.As(err, &bad) {
		return err // ends the run, of which the others learn
	}
	facts, me := make([]byte, e.group.Size()), e.group.Rank()
	var mine []byte
	if bad != nil {
		facts[me], mine = 1, append([]byte{1}, bad.Where...)
	}
	if err := e.complete(ctx, facts, len(facts), 1); err != nil || !slices.Contains(facts, 1) {
		return err
	}
	all, err := e.group.Gather(ctx, mine)
	if err != nil {
		return err
	}
	for _, x := range all {
		if len(x) > 0 {
			return &NonFiniteError{Where: string(x[1:])}
		}
	}
	return nil
}
