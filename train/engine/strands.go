package engine

import (
	"context"
	"errors"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/vec"
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
	// tell calls do with the memory of the numbers of strand k that every rank needs. It has not been evaluated here
	// unless known.
	tell(k int, known bool, do func(numbers []byte))
}

// total is what strands add up to, in pieces that pass from rank to rank, as many at a time as a window has. Ranks other
// than the last end with the first pieces alone, as many as all.
type total struct {
	pieces      [][]byte
	window, all int
}

// over evaluates strands and adds them up. It fails on all ranks of the group if potentials are not finite on one.
func (e *Engine) over(ctx context.Context, group ranks.Group, s strands) error {
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
	anyFailed, err := e.shared.exchange.Complete(ctx, group, failed != nil, func(rank int, do func([]byte)) {
		known := rank == group.Rank() && failed == nil
		for k := n * rank / size; k < n*(rank+1)/size; k++ {
			s.tell(k, known, do)
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

// SameOnAll returns the first rank's error that says that potentials are not finite.
func (e *Engine) SameOnAll(ctx context.Context, err error) error { return sameOnAll(ctx, e.group, err) }

func sameOnAll(ctx context.Context, group ranks.Group, err error) error {
	if endsRun(err) || group.Size() == 1 {
		return err
	}
	var x ranks.Exchange
	if anyFailed, lost := x.Complete(ctx, group, err != nil, func(int, func([]byte)) {}); lost != nil || !anyFailed {
		return lost
	}
	var mine []byte
	var bad *NonFiniteError
	if errors.As(err, &bad) {
		mine = append([]byte{1}, bad.Where...)
	}
	all, lost := group.Gather(ctx, mine)
	for _, x := range all {
		if len(x) > 0 {
			return &NonFiniteError{Where: string(x[1:])}
		}
	}
	return lost
}

// How many numbers of a gradient pass from rank to rank at once: pieceNumbers where ranks add to other pieces meanwhile,
// and mostNumbers where they do not.
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
		pieces = append(pieces, ranks.Bytes(x[lo:min(lo+each, len(x))]))
	}
	return pieces
}

// eachPiece calls do for pieces from to to−1 of n numbers that cut has cut: numbers a to b−1.
func eachPiece(from, to, n int, do func(a, b int)) {
	for k := from; k < to; k++ {
		do(k*pieceNumbers, min((k+1)*pieceNumbers, n))
	}
}

// overShards runs work on every shard and returns the sums over the lanes. Unless g [Dim] is nil, it adds Jᵀv to g, where v
// is what work leaves in its lane. It sums in float64 if the scorer can, and else in float32.
func (e *Engine) overShards(ctx context.Context, shards [][]int, g []float64, work func(ln *Lane) error) (Sums, error) {
	return e.sumOverShards(ctx, shards, g, false, work)
}

// sumOverShards is overShards. With toLast, g may have the sum on the last rank alone, as lower takes it.
func (e *Engine) sumOverShards(ctx context.Context, shards [][]int, g []float64, toLast bool, work func(ln *Lane) error) (Sums, error) {
	lanes := min(e.most, len(shards))
	p := pass{engine: e, shards: shards, g: g, work: work, sums: make([]Sums, lanes)}
	var s strands = &lanesOfPass{p}
	if e.sparse != nil {
		s = &shardsOfPass{pass: p, toLast: toLast, begins: e.group.Rank() == 0}
	}
	var total Sums
	err := e.over(ctx, e.group, s)
	for _, s := range p.sums {
		total.add(s)
	}
	if lanes, dense := s.(*lanesOfPass); dense && g != nil && !e.precise {
		for j, x := range lanes.engine.narrow {
			g[j] += float64(x)
		}
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

// lanesOfPass are the strands of a pass with dense inputs: each lane pulls its own shards back into a gradient of its own.
type lanesOfPass struct{ pass }

func (s *lanesOfPass) len() int { return len(s.sums) }

func (s *lanesOfPass) run(ctx context.Context, lo, hi int) error {
	e, n := s.engine, len(s.sums)
	return e.runLanes(ctx, lo, hi, func(l int, ln *Lane) error {
		ln.Sums = Sums{}
		if s.g != nil {
			e.clearGradient(ln)
		}
		for k := l; k < len(s.shards) && ctx.Err() == nil; k += n {
			ln.Batch.Reset(e.Data, s.shards[k])
			if err := s.work(ln); err != nil {
				return err
			}
			if s.g != nil {
				if err := e.pullback(ln); err != nil {
					return err
				}
			}
		}
		s.sums[l] = ln.Sums
		return nil
	})
}

func (s *lanesOfPass) total() total {
	e := s.engine
	switch {
	case s.g == nil:
		return total{}
	case e.precise:
		return cut(s.g)
	}
	e.narrow = vec.Grow(e.narrow, len(s.g))
	clear(e.narrow)
	return cut(e.narrow)
}

func (s *lanesOfPass) add(lo, hi, from, to int) error {
	eachPiece(from, to, len(s.g), func(a, b int) {
		for _, ln := range s.engine.lanes[lo:hi] {
			if !s.engine.precise {
				vec.Axpy(1, ln.grad[a:b], s.engine.narrow[a:b])
				continue
			}
			sum := s.g[a:b]
			for j, x := range ln.wide[a:b] {
				sum[j] += x
			}
		}
	})
	return nil
}

func (s *lanesOfPass) end(int, int) error { return nil }

func (s *lanesOfPass) tell(k int, _ bool, do func([]byte)) { do(ranks.Bytes(s.sums[k : k+1])) }

// shardsOfPass are the strands of a pass with sparse inputs: a rank has a run of consecutive shards, whose attributes it
// needs and no others. Their v are added to the gradient that the shards before have begun. The sums of lanes, which go
// through all shards, are added again from a journal.
type shardsOfPass struct {
	pass
	toLast  bool
	begins  bool // this rank has the first shards: it adds as it goes, and keeps few of them
	windows int
}

// keptShard is a shard that was evaluated, with what remains to be done with it.
type keptShard struct {
	batch   structured.Batch
	v       structured.Marginals
	doubles structured.Doubles
	journal []Sums
}

func (s *shardsOfPass) len() int { return len(s.shards) }

func (s *shardsOfPass) run(ctx context.Context, lo, hi int) error {
	if !s.begins {
		return s.evaluate(ctx, lo, hi)
	}
	for ; lo < hi; lo += len(s.sums) {
		to := min(lo+len(s.sums), hi)
		if err := s.evaluate(ctx, lo, to); err != nil {
			return err
		}
		s.addSums(lo, to)
		if s.g != nil {
			s.addGradients(to-lo, 0, sparse.Stripes, false)
		}
	}
	return ctx.Err()
}

// evaluate evaluates shards lo to hi−1 and keeps what remains to be done with them.
func (s *shardsOfPass) evaluate(ctx context.Context, lo, hi int) error {
	e, x := s.engine, &s.engine.shared
	for len(x.kept) < hi-lo {
		x.kept = append(x.kept, keptShard{})
	}
	threads := min(e.most, hi-lo)
	return e.runLanes(ctx, 0, threads, func(l int, ln *Lane) error {
		defer func() { ln.journal = nil }()
		for k := lo + l; k < hi && ctx.Err() == nil; k += threads {
			kept := &x.kept[k-lo]
			kept.journal = kept.journal[:0]
			ln.journal = &kept.journal
			ln.Batch.Reset(e.Data, s.shards[k])
			if err := s.work(ln); err != nil {
				return err
			}
			kept.batch, ln.Batch = ln.Batch, kept.batch
			kept.v, ln.V = ln.V, kept.v
			kept.doubles, ln.doubles = ln.doubles, kept.doubles
		}
		return nil
	})
}

// addSums adds the sums of shards lo to hi−1, which are kept, to those of the lanes.
func (s *shardsOfPass) addSums(lo, hi int) {
	for k := lo; k < hi; k++ {
		for _, t := range s.engine.shared.kept[k-lo].journal {
			s.sums[k%len(s.sums)].add(t)
		}
	}
}

// addGradients adds the pullback of the first n shards that are kept to stripes from to to−1 of the gradient, which may be packed.
func (s *shardsOfPass) addGradients(n, from, to int, packed bool) {
	e := s.engine
	threads := min(e.threads, to-from)
	e.Parallel(threads, func(k int) {
		lo, hi := from+(to-from)*k/threads, from+(to-from)*(k+1)/threads
		for j := lo; j < hi && packed; j++ {
			e.unpack(j, s.g)
		}
		for i := range e.shared.kept[:n] {
			kept := &e.shared.kept[i]
			e.scatterWide(&kept.v, kept.doubles, &kept.batch, lo, hi, s.g)
		}
		for j := lo; j < hi && packed; j++ {
			e.repack(j, s.g)
		}
	})
}

// total has the sums first, and then the gradient: whole, or packed by stripes. With several windows the ranks after the
// first begin sooner; but each costs another look at all attributes of the rank's examples, so that few ranks are faster
// one after the other.
func (s *shardsOfPass) total() total {
	e := s.engine
	t := total{pieces: [][]byte{ranks.Bytes(s.sums)}}
	s.windows = min(max(1, e.group.Size()/2), sparse.Stripes)
	switch {
	case s.g == nil:
	case s.windows == 1:
		t.pieces = append(t.pieces, cutBy(s.g, mostNumbers)...)
	default:
		e.growPacked()
		for k, packed := range e.shared.packed {
			if clear(packed); s.begins {
				e.repack(k, s.g)
			}
			t.pieces = append(t.pieces, ranks.Bytes(packed))
		}
	}
	t.window = (len(t.pieces) + s.windows - 1) / s.windows
	if t.all = len(t.pieces); s.toLast {
		t.all = 1
	}
	return t
}

func (s *shardsOfPass) add(lo, hi, from, to int) error {
	if s.begins {
		return nil
	}
	if from == 0 {
		s.addSums(lo, hi)
	}
	if s.g == nil {
		return nil
	}
	if s.windows == 1 {
		s.addGradients(hi-lo, 0, sparse.Stripes, false)
	} else {
		s.addGradients(hi-lo, max(0, from-1), to-1, true)
	}
	return nil
}

func (s *shardsOfPass) end(int, int) error {
	e := s.engine
	if s.g != nil && s.windows > 1 && (!s.toLast || e.group.Rank() == e.group.Size()-1) {
		for k := range e.shared.packed {
			e.unpack(k, s.g)
		}
	}
	return nil
}

func (s *shardsOfPass) tell(int, bool, func([]byte)) {}

// growPacked makes room for the weights of each stripe, one after the other.
func (e *Engine) growPacked() {
	x := &e.shared
	x.packed = vec.Grow(x.packed, sparse.Stripes)
	for k := range x.packed {
		n := 0
		e.sparse.Stripe(k, func(lo, hi int) { n += hi - lo })
		x.packed[k] = vec.Grow(x.packed[k], n)
	}
}

// unpack copies a packed stripe to its weights in g, and repack the reverse.
func (e *Engine) unpack(stripe int, g []float64) {
	packed := e.shared.packed[stripe]
	e.sparse.Stripe(stripe, func(lo, hi int) {
		copy(g[lo:hi], packed)
		packed = packed[hi-lo:]
	})
}

func (e *Engine) repack(stripe int, g []float64) {
	at := 0
	e.sparse.Stripe(stripe, func(lo, hi int) { at += copy(e.shared.packed[stripe][at:], g[lo:hi]) })
}
