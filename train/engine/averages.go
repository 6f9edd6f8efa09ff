package engine

import (
	"context"
	"slices"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Several ranks may also step on their own, each on its own examples, and average their iterates from time to time.

// Alone runs work of this rank that needs no other. It fails alike on all ranks where potentials are not finite on one.
func (e *Engine) Alone(ctx context.Context, work func() error) error {
	return e.SameOnAll(ctx, e.apart(work))
}

// Average replaces numbers, as many on each rank, by their means over the ranks. It adds them in the order of the
// ranks.
func (e *Engine) Average(ctx context.Context, x []float32) error {
	mine := slices.Clone(x)
	t := cut(x)
	err := e.group.SumToLast(ctx, t.pieces, t.all, t.window, func(from, to int) error {
		if e.group.Rank() > 0 {
			eachPiece(from, to, len(x), func(a, b int) { vec.Axpy(1, mine[a:b], x[a:b]) })
		}
		return nil
	})
	vec.Scale(float32(1/float64(e.group.Size())), x)
	return err
}

// Average ends steps that each rank has taken alone: the iterate, and what steps remember, become their means over the
// ranks.
func (d *ScaledDescent) Average(ctx context.Context) error {
	err := d.Finish()
	for _, x := range [][]float32{d.W, d.v, d.m, d.common} {
		if err == nil {
			err = d.engine.Average(ctx, x)
		}
	}
	d.Resume(d.engine, d.squares.β)
	return err
}
