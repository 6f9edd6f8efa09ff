package engine

import (
	"context"
	"errors"
	"sort"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train/ranks"
)

// joinStep completes a step of which each rank has done some lanes: the sums and losses of all shards, and the gradient; with answers also the
// findings' answers, which a memory may take. It fails on all ranks if one has failed.
func (e *Engine) joinStep(ctx context.Context, examples []int, lanes int, on *support, answers bool, failed error) (Gradient, error) {
	n, size, me := len(e.sums), e.group.Size(), e.group.Rank()
	each := func(rank int, do func(x []byte)) { // for the numbers of a rank
		for l := lanes * rank / size; l < lanes*(rank+1)/size; l++ {
			for k := l; k < n; k += lanes {
				from, to := k*stepExamples, min((k+1)*stepExamples, len(examples))
				do(ranks.Bytes(e.sums[k : k+1]))
				do(ranks.Bytes(e.answered[from:to]))
				do(ranks.Bytes(e.entropy[from:to]))
				found := (*finding)(nil)
				if e.sparse != nil || answers {
					found = e.findings[k]
				}
				if found != nil && (rank != me || failed != nil) {
					found.Batch.Reset(e.Data, examples[from:to])
				}
				marginals := func(u *structured.Marginals) {
					if rank != me || failed != nil {
						u.Resize(&found.Batch, e.Scorer.Form())
					}
					for i := range u.Parts {
						do(ranks.Bytes(u.Parts[i].Values))
					}
				}
				if e.sparse != nil {
					marginals(&found.V)
				}
				if answers {
					marginals(&found.Answer.U)
				}
			}
		}
	}
	if err := e.tell(ctx, failed, each); err != nil {
		return nil, err
	}
	if e.sparse != nil {
		e.spread = sparseGradient{e, n}
		return &e.spread, nil
	}
	return e.joinGradients(ctx, lanes, on)
}

// tell completes numbers of which each rank has some: each calls do for those of a rank. All ranks know how many these are, so that they need one exchange. It fails on all ranks if
// one has failed.
func (e *Engine) tell(ctx context.Context, failed error, each func(rank int, do func(x []byte))) error {
	var bad *NonFiniteError
	if e.group == nil || failed != nil && !errors.As(failed, &bad) {
		return failed // ends the run, of which the others learn
	}
	ends, total := e.shared.ends[:0], 0
	size, me := e.group.Size(), e.group.Rank()
	for rank := range size {
		total++ // whether it has failed
		each(rank, func(x []byte) { total += len(x) })
		ends = append(ends, total)
	}
	e.shared.ends, e.shared.message = ends, vec.Grow(e.shared.message, total)
	all := e.shared.message
	of := func(rank int) []byte {
		if rank == 0 {
			return all[:ends[0]]
		}
		return all[ends[rank-1]:ends[rank]]
	}
	to := of(me)
	if to[0] = 0; failed != nil {
		to[0] = 1
	}
	to = to[1:]
	each(me, func(x []byte) { to = to[copy(to, x):] })
	if err := e.group.Complete(ctx, all, ends); err != nil {
		return err
	}
	for rank := range size {
		if of(rank)[0] != 0 {
			return e.SameOnAll(ctx, failed)
		}
	}
	for rank := range size {
		if from := of(rank)[1:]; rank != me {
			each(rank, func(x []byte) { from = from[copy(x, from):] })
		}
	}
	return nil
}

// packed is where w[lo:hi] lies among numbers that are packed, from at on.
type packed struct{ lo, hi, at int }

// joinGradients sums the gradients of all lanes in order. With on, they are zero outside it, and pass from rank to rank packed.
func (e *Engine) joinGradients(ctx context.Context, lanes int, on *support) (Gradient, error) {
	x := &e.shared
	lo, hi := ranks.Share(e.group, lanes)
	if x.gradient == nil {
		x.gradient = make([]float32, e.Scorer.Dim())
	}
	values := x.gradient
	x.spans = append(x.spans[:0], packed{0, len(values), 0})
	if on != nil {
		x.spans = x.spans[:0]
		n := 0
		on.each(func(lo, hi int) {
			x.spans = append(x.spans, packed{lo, hi, n})
			n += hi - lo
		})
		x.values = vec.Grow(x.values, n)
		values = x.values
	}
	err := e.group.Sum(ctx, cut(values), 1, func(k, _ int) error {
		to := values[k*pieceNumbers : min((k+1)*pieceNumbers, len(values))]
		for l := lo; l < hi; l++ { // ranks before lane 0 pass on what is there
			addPacked(e.lanes[l].grad, x.spans, k*pieceNumbers, to, l == 0)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if on != nil {
		x.lent = true
		for _, s := range x.spans {
			copy(x.gradient[s.lo:s.hi], values[s.at:])
		}
	}
	e.dense = denseGradient{x.gradient, on}
	return &e.dense, nil
}

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
