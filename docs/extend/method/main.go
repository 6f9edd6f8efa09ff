// Command method is dsp with one more optimiser, "tail": every verb of dsp knows --method tail.
package main

import (
	"cmp"
	"context"
	"os"

	"github.com/dsp-go/dsp/cmd/dsp/cli"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// tail is the subgradient method with a fixed step. The weights that it returns are the mean of its iterates from some
// pass on, which removes most of the noise that a fixed step leaves.
type tail struct {
	rate float64           // γ
	from int               // passes before the mean begins
	path engine.AffinePath // the iterate and the mean
}

// Name is that of the registration.
func (m *tail) Name() string { return "tail" }

// Traits are none: the method trains any network, and takes no λ₁, bounds or ball.
func (m *tail) Traits() train.Traits { return train.Traits{} }

// Start begins at s.W, or goes on with what Archive has restored.
func (m *tail) Start(_ context.Context, p *train.Problem, s *train.State) error {
	if len(m.path.W) > 0 {
		m.path.Resume(p.Engine, p.Center)
		return nil
	}
	m.path.Start(p.Engine, s.W, p.Center)
	return nil
}

// Pass visits every example once: w ← w − γ(g + λ(w − c)), with the mean gradient g of a batch and the centre c of the
// regulariser.
func (m *tail) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	order, size := p.Rand(s.Passes).Perm(p.Len()), p.BatchSize()
	decay, pull := m.rate*p.Lambda, 0.0
	if p.Center != nil {
		pull = decay
	}
	if s.Passes <= m.from {
		m.path.ResetMean()
	}
	for lo := 0; lo < len(order); lo += size {
		batch := order[lo:min(lo+size, len(order))]
		step, err := p.StepAt(ctx, m.path.At(), batch, oracles.Smoothing{}, nil, 0)
		if err != nil {
			return err
		}
		m.path.Step(1-decay, pull, -m.rate/float64(len(batch)), 0, step.Grad)
		m.path.Include(1)
	}
	if err := m.path.Finish(); err != nil {
		return err
	}
	copy(s.W, m.path.Mean)
	s.Passes++
	s.OracleCalls += len(order)
	s.FullPasses++
	s.Step = m.rate
	var err error
	s.Primal, _, err = p.Upper(ctx, s.W)
	return err
}

// Archive saves or restores all that the next pass needs.
func (m *tail) Archive(a engine.Archive) { m.path.Archive(a) }

// tailSettings are the flags of the method: those of a step size and of a batch, which other methods have, too, and one
// of its own.
type tailSettings struct {
	optimisers.StepSize
	optimisers.Batching
	From int `yaml:"average-from" min:"0" help:"passes before the mean of the iterates begins"`
}

// descriptor says what the rest of dsp needs to know.
var descriptor = &optimisers.Descriptor{
	Name:     "tail",
	Summary:  "subgradients with a fixed step, averaged over the last passes",
	When:     "for any net, to see what schedules are good for",
	Settings: tailSettings{From: 1},
	Partial:  true, Prior: true,
	Passes: 20, StepSetting: "lr",
	Make: func(r *optimisers.Run) (train.Method, error) {
		own := r.Own.(*tailSettings)
		return &tail{rate: cmp.Or(own.LR, 0.1), from: own.From}, nil
	},
}

func main() {
	optimisers.Register(descriptor)
	os.Exit(cli.Main())
}
