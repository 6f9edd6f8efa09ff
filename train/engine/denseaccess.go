package engine

import (
	"context"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// denseAccess keeps gradients of dense inputs: each lane pulls v back into a vector of its own. Its steps are in
// step.go.
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
