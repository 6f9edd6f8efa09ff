package methods

import (
	"cmp"
	"context"
	"math"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// batchModels is prox-linear on models of single batches. A step linearises the network on one batch and solves the dual of that
// subproblem, which has one variable, exactly (engine.Descent.ProxStep). So a step costs what a step of SGD costs. There is no step
// size to tune: the proximal term is scaled weight by weight, and the dual variable cuts off steps that the model does not need.
type batchModels struct {
	walk
	inner innerSteps // for more than one step per model
}

const (
	batchEta    = 0.1  // default η
	batchEtaEnd = 1e-2 // its last value, as a fraction of the first
)

// start begins at s.W, or goes on with a restored walk.
func (b *batchModels) start(p *train.Problem, s *train.State, m *ProxLinear) error {
	if m.InnerSteps <= 1 {
		return b.begin(m.Name(), p.Engine, s.W)
	}
	if err := train.CheckEngine(m, p.Engine); err != nil {
		return err
	}
	if err := b.inner.start(p); err != nil {
		return err
	}
	return b.begin(m.Name(), b.inner.Engine, s.W)
}

// CheckHost implements train.HostChecker: steps on single examples of a model of a batch are on the host.
func (m *ProxLinear) CheckHost() error {
	if m.ModelBatch == 0 || m.InnerSteps <= 1 {
		return nil
	}
	return train.Refuse(m.Name(), train.HostPotentials, "takes more than one step on a model (inner-steps) on the CPU only")
}

// run visits every example once, in random order. s.W becomes the mean of the pass's iterates.
func (b *batchModels) run(ctx context.Context, p *train.Problem, s *train.State, m *ProxLinear) error {
	batched := *p
	batched.Batch = m.ModelBatch
	steps := math.Ceil(float64(p.Len()) / float64(batched.BatchSize()))
	done := float64(s.Passes)
	eta := func() float64 {
		η := m.batchEta(done)
		done += 1 / steps
		return η
	}
	move := b.asking(ctx, p, func(d *engine.Descent) float64 {
		η := eta()
		d.ProxStep(η, p.Lambda)
		return η
	})
	if m.InnerSteps > 1 {
		move = func(batch []int, dropout uint64) (float64, error) {
			η := eta()
			return η, b.inner.solve(ctx, &b.descent, batch, dropout, η, p.Lambda, m.InnerSteps)
		}
	}
	return b.pass(ctx, &batched, s, PassAverage, move)
}

// batchEta returns η after so many passes: it falls geometrically.
func (m *ProxLinear) batchEta(passes float64) float64 {
	first := cmp.Or(m.Eta, batchEta)
	if m.Passes <= m.Finish {
		return first
	}
	return first * math.Pow(batchEtaEnd, min(1, passes/float64(m.Passes-m.Finish)))
}
