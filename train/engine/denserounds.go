package engine

import (
	"context"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// denseRound is roundWeights for dense inputs, whose steps touch all weights. What ranks have added is summed as
// gradients are.
type denseRound struct {
	engine *Engine
	before []float32 // [Dim] w when the round began
	added  []float32 // scratch memory: what this rank has added
	sum    []float32 // scratch memory: what all ranks have added
}

func (d *denseRound) begin(w []float32, _ bool) { d.before = append(d.before[:0], w...) }

func (d *denseRound) visit([]int) {}

func (d *denseRound) sizes() (spans, weights int) { return 0, 0 }

func (d *denseRound) exchange(ctx context.Context, r *Rounds, by roundShare, w []float32, _ []float64, c *changes) error {
	e := d.engine
	d.added = append(d.added[:0], w...)
	vec.Axpy(-1, d.before, d.added)
	vec.Scale(by.share, d.added)
	if err := r.gather(ctx, e, vec.Norm2(d.added), c); err != nil {
		return err
	}
	d.sum = vec.Grow(d.sum, len(w))
	clear(d.sum)
	t := cut(d.sum)
	err := e.group.SumToLast(ctx, t.pieces, t.all, t.window, func(from, to int) error {
		eachPiece(from, to, len(w), func(a, b int) { vec.Axpy(1, d.added[a:b], d.sum[a:b]) })
		return nil
	})
	if err != nil {
		return err
	}
	copy(w, d.before)
	vec.Axpy(1, d.sum, w)
	c.measure(e.Objective, d.before, w)
	c.conjugate(e.Objective, by.τ, 0, d.before, w)
	return nil
}

func (d *denseRound) undo(w []float32) { copy(w, d.before) }
