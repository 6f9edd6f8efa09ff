package engine

import (
	"context"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// rowAccess keeps gradients of sparse inputs. There are too many weights for a vector of each lane, and an example
// touches few of them. So lanes stop in potential space, and what they have found is scattered, in order, straight to
// where it goes.
type rowAccess struct {
	*Engine
	current  sparseBatch
	gradient sparseGradient
	zeros    []float32   // [Dim] scratch memory, zero between calls
	rows     sparse.Rows // scratch memory
	kept     []keptShard // scratch memory: shards of this rank
	packed   [][]float64 // scratch memory: the weights of each stripe, one after the other
}

func (h *rowAccess) mostRanks() int { return len(h.layout.shards) }

func (h *rowAccess) examplesOf(rank int) (of []int) {
	size := h.group.Size()
	n := len(h.layout.shards)
	for _, shard := range h.layout.shards[n*rank/size : n*(rank+1)/size] {
		of = append(of, shard...)
	}
	return of
}

func (h *rowAccess) gradients(int) int { return 0 }

func (h *rowAccess) erase(v *structured.Marginals, batch *structured.Batch, w []float32) {
	h.sparse.Erase(v, batch, w)
}

func (h *rowAccess) roundWeights() roundWeights { return &sparseRound{engine: h.Engine} }

func (h *rowAccess) pathStepper(x *AffinePath) pathStepper {
	return &sparsePath{AffinePath: x, sparse: h.sparse}
}

// lower implements access. The last rank has g first. It makes the bound, and tells the others.
func (h *rowAccess) lower(ctx context.Context, w []float32, g []float64, sums Sums) (Recomposed, error) {
	last := h.group.Size() - 1
	message := h.Vector(len(g) + 6) // the gradient, and memory of the three numbers
	u, numbers := Recomposed{Grad: message[:len(g)]}, make([]float64, 3)
	if h.group.Rank() == last {
		u = h.lowerInto(u.Grad, w, g, sums)
		numbers[0], numbers[1], numbers[2] = u.Linear, u.Central, u.Rounded
		copy(vec.Bytes(message[len(g):]), vec.Bytes(numbers))
	}
	err := h.group.Broadcast(ctx, vec.Bytes(message), last)
	copy(vec.Bytes(numbers), vec.Bytes(message[len(g):]))
	u.Linear, u.Central, u.Rounded = numbers[0], numbers[1], numbers[2]
	return u, err
}

// shardsOfPass are the strands of a pass with sparse inputs: a rank has a run of consecutive shards, whose attributes
// it needs and no others. Their v are added to the gradient that the shards before have begun. The sums of lanes, which
// go through all shards, are added again from deferredSums.
type shardsOfPass struct {
	pass
	access  *rowAccess
	toLast  bool
	begins  bool // this rank has the first shards: it adds as it goes, and keeps few of them
	windows int
}

// keptShard is a shard that was evaluated, with what remains to be done with it.
type keptShard struct {
	batch        structured.Batch
	v            structured.Marginals
	doubles      structured.Doubles
	deferredSums []Sums
}

func (h *rowAccess) pass(ctx context.Context, p pass, toLast bool) error {
	return h.evaluateAndAdd(ctx, h.group.Group, &shardsOfPass{pass: p, access: h, toLast: toLast, begins: h.group.Rank() == 0})
}

func (s *shardsOfPass) len() int { return len(s.shards) }

func (s *shardsOfPass) run(ctx context.Context, lo, hi int) error {
	if !s.begins {
		return s.evaluate(ctx, lo, hi)
	}
	most := len(s.sums) // shards that are kept
	if s.g == nil {
		most *= 8 // of which nothing but sums is kept: lanes wait for each other less often
	}
	for ; lo < hi; lo += most {
		to := min(lo+most, hi)
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
	e, x := s.engine, s.access
	for len(x.kept) < hi-lo {
		x.kept = append(x.kept, keptShard{})
	}
	threads := min(e.layout.lanes, hi-lo)
	return e.team.inLanes(ctx, 0, threads, func(l int, ln *Lane) error {
		defer func() { ln.deferredSums = nil }()
		for k := lo + l; k < hi && ctx.Err() == nil; k += threads {
			kept := &x.kept[k-lo]
			kept.deferredSums = kept.deferredSums[:0]
			ln.deferredSums = &kept.deferredSums
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
		for _, t := range s.access.kept[k-lo].deferredSums {
			s.sums[k%len(s.sums)].add(t)
		}
	}
}

// addGradients adds the pullback of the first n shards that are kept to stripes from to to−1 of the gradient, which may
// be packed.
func (s *shardsOfPass) addGradients(n, from, to int, packed bool) {
	e, h := s.engine, s.access
	threads := min(e.team.threads, to-from)
	e.Parallel(threads, func(k int) {
		lo, hi := from+(to-from)*k/threads, from+(to-from)*(k+1)/threads
		for j := lo; j < hi && packed; j++ {
			h.unpack(j, s.g)
		}
		for i := range h.kept[:n] {
			kept := &h.kept[i]
			h.scatterWide(&kept.v, kept.doubles, &kept.batch, lo, hi, s.g)
		}
		for j := lo; j < hi && packed; j++ {
			h.repack(j, s.g)
		}
	})
}

// total has the sums first, and then the gradient: whole, or packed by stripes. With several windows the ranks after
// the first begin sooner; but each costs another look at all attributes of the rank's examples, so that few ranks are
// faster one after the other.
func (s *shardsOfPass) total() total {
	e := s.engine
	t := total{pieces: [][]byte{vec.Bytes(s.sums)}}
	s.windows = min(max(1, e.group.Size()/2), sparse.Stripes)
	switch {
	case s.g == nil:
	case s.windows == 1:
		t.pieces = append(t.pieces, cutBy(s.g, mostNumbers)...)
	default:
		s.access.growPacked()
		for k, packed := range s.access.packed {
			if clear(packed); s.begins {
				s.access.repack(k, s.g)
			}
			t.pieces = append(t.pieces, vec.Bytes(packed))
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
		for k := range s.access.packed {
			s.access.unpack(k, s.g)
		}
	}
	return nil
}

func (s *shardsOfPass) gather(int, bool, func([]byte)) {}

// growPacked makes room for the weights of each stripe, one after the other.
func (h *rowAccess) growPacked() {
	h.packed = vec.Grow(h.packed, sparse.Stripes)
	for k := range h.packed {
		n := 0
		h.sparse.Stripe(k, func(lo, hi int) { n += hi - lo })
		h.packed[k] = vec.Grow(h.packed[k], n)
	}
}

// unpack copies a packed stripe to its weights in g, and repack the reverse.
func (h *rowAccess) unpack(stripe int, g []float64) {
	packed := h.packed[stripe]
	h.sparse.Stripe(stripe, func(lo, hi int) {
		copy(g[lo:hi], packed)
		packed = packed[hi-lo:]
	})
}

func (h *rowAccess) repack(stripe int, g []float64) {
	at := 0
	h.sparse.Stripe(stripe, func(lo, hi int) { at += copy(h.packed[stripe][at:], g[lo:hi]) })
}

// sparseBatch are the strands of a step: lanes of its shards. Ranks exchange marginals instead of gradients.
type sparseBatch struct{ stepLanes }

func (h *rowAccess) step(ctx context.Context, of stepLanes) (Gradient, error) {
	s := &h.current
	s.stepLanes = of
	h.team.growResults(h.last.shards)
	h.touched.ahead = false
	if err := h.evaluateAndAdd(ctx, s.group(), s); err != nil {
		return nil, err
	}
	h.gradient = sparseGradient{h, h.last.shards}
	return &h.gradient, nil
}

func (s *sparseBatch) run(ctx context.Context, lo, hi int) error {
	return s.evaluate(ctx, lo, hi, true, s)
}

func (s *sparseBatch) begin(*Lane) {}

func (s *sparseBatch) pull(*Lane) error { return nil }

func (s *sparseBatch) total() total { return total{} }

func (s *sparseBatch) add(int, int, int, int) error { return nil }

func (s *sparseBatch) end(int, int) error { return nil }

func (s *sparseBatch) gather(l int, known bool, do func([]byte)) {
	s.gatherShards(l, known, do, func(found *shardResult) []*structured.Marginals {
		if s.answers {
			return []*structured.Marginals{&found.V, &found.Answer.U}
		}
		return []*structured.Marginals{&found.V}
	})
}

// sparseGradient is a D of sparse inputs. It stays in potential space, because each use of it is a single scatter into,
// or gather from, the few rows of weights that the batch touches. What was found on the shards of the last step holds
// the batch and v.
type sparseGradient struct {
	access *rowAccess
	shards int
}

func (g *sparseGradient) AddTo(c float32, w []float32) { g.access.scatter(g.shards, c, w, nil) }

func (g *sparseGradient) AddToTwo(c float32, w []float32, d float32, u []float32) {
	h := g.access
	h.overStripes(g.shards, func(found *shardResult, lo, hi int) {
		h.sparse.ScatterTwo(c, d, &found.V, &found.Batch, lo, hi, w, u)
	})
}

func (g *sparseGradient) Times(c float32, zeros *[]float32) []float32 {
	if *zeros == nil {
		*zeros = make([]float32, g.access.Scorer.Dim())
	}
	g.AddTo(c, *zeros)
	return *zeros
}

// Norm2 adds D to a vector of zeros, which it then resets to zeros.
func (g *sparseGradient) Norm2() float64 {
	h, zeros := g.access, g.access.scratch()
	var parts [sparse.Stripes]float64
	h.scatter(g.shards, 1, zeros, parts[:])
	total := 0.0
	for _, x := range parts {
		total += x
	}
	for _, found := range h.team.results[:g.shards] {
		h.sparse.Erase(&found.V, &found.Batch, zeros)
	}
	return max(total, 0) // changes of squares add up to it, so roundings may leave it below 0 where large entries cancel
}

// product implements Gradient: θ is linear in w.
func (g *sparseGradient) product(st *Step) float64 { return st.Linear - st.loss }

func (g *sparseGradient) eachRow(do func(d []float32, lo, hi int)) {
	h, zeros := g.access, g.access.scratch()
	g.AddTo(1, zeros)
	for _, found := range h.team.results[:g.shards] {
		h.sparse.Rows(&found.Batch, &h.rows)
		for _, row := range h.rows.Index { // a row of two shards is zero when the second comes to it
			lo, hi := h.sparse.Row(row)
			do(zeros, lo, hi)
			clear(zeros[lo:hi])
		}
	}
}

func (g *sparseGradient) Dot(w []float32) float64 {
	s, ln := 0.0, g.access.team.lanes[0]
	for _, found := range g.access.team.results[:g.shards] {
		if err := ln.Worker.Score(w, &found.Batch, &ln.φ); err != nil {
			panic(err) // cannot happen: a worker of the same scorer has already scored this batch
		}
		for b := range found.Batch.Len() {
			s += found.V.Dot(b, &ln.φ)
		}
	}
	return s
}

// scatterWide adds Jᵀv of a batch to some stripes of g in a full pass, in one in float64 with other numbers than those
// of v.
func (h *rowAccess) scatterWide(v *structured.Marginals, wide structured.Doubles, batch *structured.Batch, lo, hi int, g []float64) {
	if h.doubles.pulls {
		h.sparse.ScatterDoubly(v, wide, batch, lo, hi, g)
	} else {
		h.sparse.ScatterDouble(v, batch, lo, hi, g)
	}
}

// scatter adds c·Jᵀv of the first n shards of the last step to w, in order. norms is as in sparse.Linear.Scatter.
func (h *rowAccess) scatter(n int, c float32, w []float32, norms []float64) {
	h.overStripes(n, func(found *shardResult, lo, hi int) {
		h.sparse.Scatter(c, &found.V, &found.Batch, lo, hi, w, norms)
	})
}

// overStripes calls add for the first n shards of the last step in order, and on each thread for some stripes.
func (h *rowAccess) overStripes(n int, add func(found *shardResult, lo, hi int)) {
	threads := 1
	if n > 1 { // more than one step's worth
		threads = min(h.team.threads, sparse.Stripes)
	}
	h.Parallel(threads, func(k int) {
		for _, found := range h.team.results[:n] {
			add(found, sparse.Stripes*k/threads, sparse.Stripes*(k+1)/threads)
		}
	})
}

// scratch returns a vector of zeros [Dim], which the caller must leave as zeros.
func (h *rowAccess) scratch() []float32 {
	if h.zeros == nil {
		h.zeros = make([]float32, h.Scorer.Dim())
	}
	return h.zeros
}
