package methods

import (
	"context"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// innerSteps solves prox-linear's model of a batch more accurately than one step does: it linearises the network at the
// iterate, takes the exact step, and then steps of block-coordinate Frank-Wolfe on the batch's examples in turn
// (engine.BatchDual).
type innerSteps struct {
	*engine.Engine                   // of the linearised network; nil before start
	moving         engine.Linearised // its scorer; nil if the problem's own scorer is affine
	dual           *engine.BatchDual
}

// start makes the linearised problem, unless it is there.
func (m *innerSteps) start(p *train.Problem) error {
	if m.Engine != nil {
		return nil
	}
	switch {
	case p.Partial():
		return train.Refuse("prox-linear", train.KnownLabels, "needs to know all gold labels for more than one step on a model (inner-steps)")
	case p.Smoothing.Mu > 0:
		return train.Refuse("prox-linear", train.PlainMax, "takes more than one step on a model (inner-steps) without smoothing only")
	}
	o, moving, err := linearised(p)
	if err != nil {
		return err
	}
	m.moving, m.dual = moving, engine.NewBatchDual(o)
	m.Engine, err = p.Sibling(o) // on the host, as the method's engine is
	return err
}

// solve takes the given number of steps on the model of a batch.
func (m *innerSteps) solve(ctx context.Context, d *engine.ScaledDescent, batch []int, dropout uint64, η, λ float64, steps int) error {
	d.Prepare(batch)
	if m.moving != nil {
		m.moving.MoveTo(d.W)
	}
	if err := m.dual.Begin(ctx, d, batch, dropout, η, λ); err != nil {
		return err
	}
	for k := range steps - 1 {
		if err := m.dual.Step(ctx, d, k%len(batch), dropout, η); err != nil {
			return err
		}
	}
	return nil
}
