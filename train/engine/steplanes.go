package engine

import (
	"context"
	"sort"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train/ranks"
)

// lanesOfStep are the strands of a step on a batch: lanes of its shards. With sparse inputs the gradient stays in
// potential space, so that ranks exchange marginals instead of gradients.
type lanesOfStep struct {
	engine   *Engine
	group    ranks.Group
	examples []int
	lanes    int
	keeps    bool     // what was found on all shards
	answers  bool     // the answers on them, which a memory may take
	on       *support // where the gradients differ from zero; nil: everywhere
	work     func(ln *Lane) error
	values   []float32 // the gradient, packed if on is known and there are several ranks
	pieces   [][]byte  // scratch memory
}

func (s *lanesOfStep) len() int { return s.lanes }

// shard returns where the examples of shard k are in the batch.
func (s *lanesOfStep) shard(k int) (from, to int) {
	return k * StepExamples, min((k+1)*StepExamples, len(s.examples))
}

func (s *lanesOfStep) run(ctx context.Context, lo, hi int) error {
	e := s.engine
	return e.runLanes(ctx, lo, hi, func(l int, ln *Lane) error {
		e.giveGradient(ln)
		if s.on == nil || ln.full {
			clear(ln.grad)
			ln.full = false
		}
		for k := l; k < len(e.sums) && ctx.Err() == nil; k += s.lanes {
			if s.keeps {
				ln.finding = e.findings[k]
			}
			ln.Sums = Sums{}
			from, to := s.shard(k)
			ln.Batch.Reset(e.Data, s.examples[from:to])
			if err := s.work(ln); err != nil {
				return err
			}
			e.sums[k] = ln.Sums
			copy(e.answered[from:], ln.losses)
			copy(e.entropy[from:], ln.entropy)
			if ln.Sums.Moved == 0 || e.sparse != nil {
				continue
			}
			if err := ln.Worker.Pullback(&ln.V, ln.grad); err != nil {
				return err
			}
		}
		return nil
	})
}

// tell implements strands: the sums, losses and entropies of a lane's shards, and what was found on them.
func (s *lanesOfStep) tell(l int, known bool, do func([]byte)) {
	e := s.engine
	for k := l; k < len(e.sums); k += s.lanes {
		from, to := s.shard(k)
		do(ranks.Bytes(e.sums[k : k+1]))
		do(ranks.Bytes(e.answered[from:to]))
		do(ranks.Bytes(e.entropy[from:to]))
		if !s.keeps {
			continue
		}
		found := e.findings[k]
		if !known {
			found.Batch.Reset(e.Data, s.examples[from:to])
		}
		marginals := func(u *structured.Marginals) {
			if !known {
				u.Resize(&found.Batch, e.Scorer.Form())
			}
			for i := range u.Parts {
				do(ranks.Bytes(u.Parts[i].Values))
			}
		}
		if e.sparse != nil {
			marginals(&found.V)
		}
		if s.answers {
			marginals(&found.Answer.U)
		}
	}
}

// total implements strands. A process alone adds to the gradient of its first lane, where it differs from zero. With
// several ranks, numbers outside the support do not pass from rank to rank.
func (s *lanesOfStep) total() total {
	e, x := s.engine, &s.engine.shared
	switch {
	case e.sparse != nil:
		return total{}
	case s.group.Size() == 1:
		s.values = e.lanes[0].grad
		s.pieces = append(s.pieces, ranks.Bytes(s.values))
		return total{pieces: s.pieces, window: 1, all: 1}
	}
	if x.gradient == nil {
		x.gradient = make([]float32, e.Scorer.Dim())
	}
	s.values = x.gradient
	x.spans = append(x.spans[:0], packed{0, len(s.values), 0})
	if s.on != nil {
		x.spans = x.spans[:0]
		n := 0
		s.on.each(func(lo, hi int) {
			x.spans = append(x.spans, packed{lo, hi, n})
			n += hi - lo
		})
		x.values = vec.Grow(x.values, n)
		s.values = x.values
	}
	return cut(s.values)
}

func (s *lanesOfStep) add(lo, hi, from, to int) error {
	e := s.engine
	if s.group.Size() == 1 {
		for _, ln := range e.lanes[1:hi] {
			(&denseGradient{ln.grad, s.on}).AddTo(1, s.values)
		}
		return nil
	}
	eachPiece(from, to, len(s.values), func(a, b int) {
		for l := lo; l < hi; l++ { // ranks before lane 0 pass on what is there
			addPacked(e.lanes[l].grad, e.shared.spans, a, s.values[a:b], l == 0)
		}
	})
	return nil
}

func (s *lanesOfStep) end(int, int) error { return nil }

// gradient returns the gradient of the step.
func (s *lanesOfStep) gradient() Gradient {
	e, x := s.engine, &s.engine.shared
	if e.sparse != nil {
		e.spread = sparseGradient{e, len(e.sums)}
		return &e.spread
	}
	e.dense = denseGradient{s.values, s.on}
	if s.group.Size() > 1 {
		if e.dense.values = x.gradient; s.on != nil {
			x.lent = true
			for _, of := range x.spans {
				copy(x.gradient[of.lo:of.hi], s.values[of.at:])
			}
		}
	}
	return &e.dense
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
