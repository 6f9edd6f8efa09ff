package engine

import (
	"context"
	"errors"

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

// joinGradients sums the gradients of all lanes in order. With on, they are zero outside it.
func (e *Engine) joinGradients(ctx context.Context, lanes int, on *support) (Gradient, error) {
	x := &e.shared
	lo, hi := ranks.Share(e.group, lanes)
	if x.gradient == nil {
		x.gradient = make([]float32, e.Scorer.Dim())
	}
	values := x.gradient // on the support, one after the other
	if on == nil {
		clear(values)
	} else {
		n := 0
		on.each(func(lo, hi int) { n += hi - lo })
		x.values = vec.Grow(x.values, n)
		values = x.values
		clear(values)
	}
	gradient := func(l int) []float32 {
		if on == nil {
			return e.lanes[l].grad
		}
		x.mine = x.mine[:0]
		on.each(func(lo, hi int) { x.mine = append(x.mine, e.lanes[l].grad[lo:hi]...) })
		return x.mine
	}
	err := e.group.Sum(ctx, cut(values), len(values)/pieceNumbers+1, func(from, to int) error {
		a, b := from*pieceNumbers, min(to*pieceNumbers, len(values))
		for l := lo; l < hi; l++ {
			if g := gradient(l)[a:b]; l == 0 {
				copy(values[a:b], g)
			} else {
				vec.Axpy(1, g, values[a:b])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if on != nil {
		x.lent = true
		on.each(func(lo, hi int) { values = values[copy(x.gradient[lo:hi], values):] })
	}
	e.dense = denseGradient{x.gradient, on}
	return &e.dense, nil
}
