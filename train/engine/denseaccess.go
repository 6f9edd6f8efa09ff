package engine

import (
	"context"
	"sort"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// denseAccess keeps gradients of dense inputs: each lane pulls v back into a vector of its own.
type denseAccess struct {
	*Engine
	current  denseBatch
	gradient denseGradient

	// Scratch memory for steps that several ranks share.
	shared []float32 // [Dim] the gradient
	packed []float32 // its touched weights, one after the other
	spans  []packed  // where these lie in packed
}

func (h *denseAccess) lower(_ context.Context, w []float32, g []float64, sums Sums) (Recomposed, error) {
	return h.lowerInto(h.Vector(len(g)), w, g, sums), nil
}

func (h *denseAccess) mostRanks() int { return min(h.layout.lanes, len(h.layout.shards)) }

func (h *denseAccess) examplesOf(rank int) (of []int) {
	n, size := h.mostRanks(), h.group.Size()
	for l := n * rank / size; l < n*(rank+1)/size; l++ {
		for k := l; k < len(h.layout.shards); k += n {
			of = append(of, h.layout.shards[k]...)
		}
	}
	return of
}

func (h *denseAccess) gradients(lanes int) int { return lanes }

func (h *denseAccess) erase(_ *structured.Marginals, _ *structured.Batch, w []float32) { clear(w) }

func (h *denseAccess) roundWeights() roundWeights { return &denseRound{engine: h.Engine} }

func (h *denseAccess) pathStepper(x *AffinePath) pathStepper { return &densePath{AffinePath: x} }

// denseGradient is a D that is a vector.
type denseGradient struct {
	values  []float32
	touched *touchedRows // where D can differ from zero
}

func (g *denseGradient) AddTo(c float32, w []float32) { g.touched.axpy(c, g.values, w) }

func (g *denseGradient) AddToTwo(c float32, w []float32, d float32, u []float32) {
	g.AddTo(c, w)
	g.AddTo(d, u)
}

func (g *denseGradient) Times(c float32, _ *[]float32) []float32 {
	g.touched.each(func(lo, hi int) { vec.Scale(c, g.values[lo:hi]) })
	return g.values
}

func (g *denseGradient) product(st *Step) float64 {
	var soft []float32
	return g.Dot(st.at.weights(&soft))
}

func (g *denseGradient) eachRow(do func(d []float32, lo, hi int)) {
	g.touched.each(func(lo, hi int) { do(g.values, lo, hi) })
}

func (g *denseGradient) Norm2() float64          { return vec.Norm2(g.values) }
func (g *denseGradient) Dot(w []float32) float64 { return vec.Dot64(g.values, w) }

// lanesOfPass are the strands of a pass with dense inputs: each lane pulls its own shards back into a gradient of its
// own.
type lanesOfPass struct{ pass }

func (h *denseAccess) pass(ctx context.Context, p pass, _ bool) error {
	err := h.evaluateAndAdd(ctx, h.group.Group, &lanesOfPass{p})
	if p.g != nil && !h.precise {
		for j, x := range h.vectors.narrow {
			p.g[j] += float64(x)
		}
	}
	return err
}

func (s *lanesOfPass) len() int { return len(s.sums) }

func (s *lanesOfPass) run(ctx context.Context, lo, hi int) error {
	e, n := s.engine, len(s.sums)
	return e.team.inLanes(ctx, lo, hi, func(l int, ln *Lane) error {
		ln.Sums = Sums{}
		if s.g != nil {
			ln.clearGradient()
		}
		for k := l; k < len(s.shards) && ctx.Err() == nil; k += n {
			ln.Batch.Reset(e.Data, s.shards[k])
			if err := s.work(ln); err != nil {
				return err
			}
			if s.g != nil {
				if err := ln.pullback(); err != nil {
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
	return cut(e.vectors.narrowZeros(len(s.g)))
}

func (s *lanesOfPass) add(lo, hi, from, to int) error {
	eachPiece(from, to, len(s.g), func(a, b int) {
		for _, ln := range s.engine.team.lanes[lo:hi] {
			if !s.engine.precise {
				vec.Axpy(1, ln.grad[a:b], s.engine.vectors.narrow[a:b])
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

func (s *lanesOfPass) gather(k int, _ bool, do func([]byte)) { do(vec.Bytes(s.sums[k : k+1])) }

// clearGradient prepares a lane for the gradient of a full pass.
func (ln *Lane) clearGradient() {
	if ln.precise != nil {
		ln.wide = vec.Grow(ln.wide, ln.dim)
		clear(ln.wide)
		return
	}
	ln.giveGradient()
	clear(ln.grad)
	ln.full = true
}

// giveGradient makes sure that a lane has a gradient.
func (ln *Lane) giveGradient() {
	if ln.grad == nil {
		ln.grad = make([]float32, ln.dim)
	}
}

// pullback adds Jᵀv of a lane's shard to the lane's gradient of a full pass.
func (ln *Lane) pullback() error {
	if ln.precise != nil {
		return ln.precise.PullbackPrecisely(&ln.V, ln.wide)
	}
	return ln.Worker.Pullback(&ln.V, ln.grad)
}

// denseBatch are the strands of a step: lanes of its shards.
type denseBatch struct {
	stepLanes
	access *denseAccess
	values []float32 // the gradient, packed if there are several ranks and it is not touched everywhere
	pieces [][]byte  // scratch memory
}

func (h *denseAccess) step(ctx context.Context, of stepLanes) (Gradient, error) {
	s := &h.current
	*s = denseBatch{stepLanes: of, access: h, pieces: s.pieces[:0]}
	h.touched.findAhead(h.Data, of.examples)
	h.touched.ahead = false
	err := h.evaluateAndAdd(ctx, s.group(), s)
	for _, ln := range h.team.lanes[:s.lanes] {
		h.touched.uses(ln.grad) // there is none of other ranks' lanes
	}
	if err != nil {
		return nil, err
	}
	h.gradient = denseGradient{s.sum(), h.touched}
	return &h.gradient, nil
}

func (s *denseBatch) run(ctx context.Context, lo, hi int) error {
	return s.evaluate(ctx, lo, hi, s.answers, s)
}

func (s *denseBatch) begin(ln *Lane) {
	ln.giveGradient()
	if s.engine.touched.everywhere() || ln.full {
		clear(ln.grad)
		ln.full = false
	}
}

func (s *denseBatch) pull(ln *Lane) error {
	if ln.Sums.Moved == 0 {
		return nil
	}
	return ln.Worker.Pullback(&ln.V, ln.grad)
}

func (s *denseBatch) gather(l int, known bool, do func([]byte)) {
	if s.answers {
		s.gatherShards(l, known, do, answersFound)
	} else {
		s.gatherShards(l, known, do, nil)
	}
}

// total implements strands. A process alone adds to the gradient of its first lane, where it differs from zero. With
// several ranks, numbers that are not touched do not pass from rank to rank.
func (s *denseBatch) total() total {
	e, h := s.engine, s.access
	if s.group().Size() == 1 {
		s.values = e.team.lanes[0].grad
		s.pieces = append(s.pieces, vec.Bytes(s.values))
		return total{pieces: s.pieces, window: 1, all: 1}
	}
	if h.shared == nil {
		h.shared = make([]float32, e.Scorer.Dim())
	}
	n := 0
	h.spans = h.spans[:0]
	e.touched.each(func(lo, hi int) {
		h.spans = append(h.spans, packed{lo, hi, n})
		n += hi - lo
	})
	if s.values = h.shared; !e.touched.everywhere() {
		h.packed = vec.Grow(h.packed, n)
		s.values = h.packed
	}
	return cut(s.values)
}

func (s *denseBatch) add(lo, hi, from, to int) error {
	e := s.engine
	if s.group().Size() == 1 {
		for _, ln := range e.team.lanes[1:hi] {
			e.touched.axpy(1, ln.grad, s.values)
		}
		return nil
	}
	eachPiece(from, to, len(s.values), func(a, b int) {
		for l := lo; l < hi; l++ { // ranks before lane 0 pass on what is there
			addPacked(e.team.lanes[l].grad, s.access.spans, a, s.values[a:b], l == 0)
		}
	})
	return nil
}

func (s *denseBatch) end(int, int) error { return nil }

// sum returns the sum of the lanes' gradients.
func (s *denseBatch) sum() []float32 {
	e, h := s.engine, s.access
	if s.group().Size() > 1 && !e.touched.everywhere() {
		e.touched.uses(h.shared)
		for _, of := range h.spans {
			copy(h.shared[of.lo:of.hi], s.values[of.at:])
		}
		return h.shared
	}
	return s.values
}

// packed is where w[lo:hi] lies among numbers that are packed, from at on.
type packed struct{ lo, hi, at int }

// addPacked adds g to the packed numbers from at on, or sets them.
func addPacked(g []float32, spans []packed, at int, to []float32, set bool) {
	k := sort.Search(len(spans), func(k int) bool { return spans[k].at+spans[k].hi-spans[k].lo > at })
	for len(to) > 0 {
		from := g[spans[k].lo+at-spans[k].at : spans[k].hi]
		n := min(len(from), len(to))
		if set {
			copy(to, from)
		} else {
			vec.Axpy(1, from[:n], to[:n])
		}
		to, at, k = to[n:], at+n, k+1
	}
}
