package engine

import (
	"context"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train/ranks"
)

// joinStep completes a step of which each rank has done some lanes: the sums and losses of all shards, and the gradient; with answers also the
// findings' answers, which a memory may take.
func (e *Engine) joinStep(ctx context.Context, examples []int, lanes int, on *support, answers bool) (Gradient, error) {
	n, size := len(e.sums), e.group.Size()
	each := func(rank int, do func(k, from, to int) error) error { // for the shards of a rank: their examples are examples[from:to]
		for l := lanes * rank / size; l < lanes*(rank+1)/size; l++ {
			for k := l; k < n; k += lanes {
				if err := do(k, k*stepExamples, min((k+1)*stepExamples, len(examples))); err != nil {
					return err
				}
			}
		}
		return nil
	}
	var mine []byte
	marginals := func(k int) []*structured.Marginals {
		var all []*structured.Marginals
		if e.sparse != nil {
			all = append(all, &e.findings[k].V)
		}
		if answers {
			all = append(all, &e.findings[k].Answer.U)
		}
		return all
	}
	_ = each(e.group.Rank(), func(k, from, to int) error {
		mine = append(append(append(mine, ranks.Bytes(e.sums[k:k+1])...), ranks.Bytes(e.answered[from:to])...), ranks.Bytes(e.entropy[from:to])...)
		for _, u := range marginals(k) {
			for i := range u.Parts {
				mine = append(mine, ranks.Bytes(u.Parts[i].Values)...)
			}
		}
		return nil
	})
	all, err := e.group.Gather(ctx, mine)
	if err != nil {
		return nil, err
	}
	for rank, x := range all {
		if rank == e.group.Rank() {
			continue
		}
		err := each(rank, func(k, from, to int) error {
			var err error
			if x, err = take(x, e.sums[k:k+1]); err == nil {
				x, err = take(x, e.answered[from:to])
			}
			if err == nil {
				x, err = take(x, e.entropy[from:to])
			}
			for _, u := range marginals(k) {
				found := e.findings[k]
				found.Batch.Reset(e.Data, examples[from:to])
				u.Resize(&found.Batch, e.Scorer.Form())
				for i := range u.Parts {
					if err == nil {
						x, err = take(x, u.Parts[i].Values)
					}
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if e.sparse != nil {
		e.spread = sparseGradient{e, n}
		return &e.spread, nil
	}
	return e.joinGradients(ctx, lanes, on)
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
