package methods

import (
	"cmp"
	"context"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// Adam is AdamW (Kingma and Ba 2015; Loshchilov and Hutter 2019) with the usual β₁ = 0.9 and β₂ = 0.999, for any scorer
// and any loss. The regulariser is a weight decay by 1 − ηλ per step, apart from the gradient. Every step moves every
// weight, rows of embeddings that its batch does not read too.
type Adam struct {
	Rate      float64 // η; 0: 10⁻³
	Schedule  Schedule
	Halving   float64   // as for SGD
	Span                // of the run
	Averaging Averaging // AutoAverage is NoAverage for schedules that end near 0, else PassAverage
	Clip      float64   // as for SGD
	Local     int       // as for SGD

	steps descentPass
	t     int // steps taken
}

const (
	adamRate = 1e-3
	adamBeta = 0.9 // β₁
)

func (m *Adam) Name() string { return "adam" }

func (m *Adam) Traits() train.Traits { return train.Traits{} }

// Start begins at s.W.
func (m *Adam) Start(_ context.Context, p *train.Problem, s *train.State) error {
	switch {
	case m.Schedule == PegasosSchedule:
		return train.Refuse(m.Name(), train.OtherSchedule, "has no pegasos schedule, which is one of subgradient steps")
	case m.Schedule.needsSpan() && m.Passes == 0:
		return train.Refuse(m.Name(), train.RunLength, "needs to know the number of passes for the %v schedule", m.Schedule)
	}
	m.steps.local = localStepsOf(p, m.Local)
	return m.steps.begin(m.Name(), p.Engine, s.W)
}

// Pass visits every example once.
func (m *Adam) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	kind := m.Averaging
	if kind == AutoAverage {
		kind = NoAverage
		if !m.Schedule.needsSpan() {
			kind = PassAverage
		}
	}
	perPass := float64(m.steps.local.steps(p))
	return m.steps.pass(ctx, p, s, kind, func(q engine.Question) (float64, error) {
		t := float64(m.t)
		η := cmp.Or(m.Rate, adamRate) * m.Schedule.factor(t, perPass, m.Halving, m.Passes) * m.rise(t, perPass)
		m.t++
		_, err := m.steps.descent.Step(ctx, q,
			engine.Move{Rule: engine.AdamRule, Eta: η, Lambda: p.Lambda, Beta: adamBeta, Clip: m.Clip})
		return η, err
	})
}

// Archive saves or restores the method's state.
func (m *Adam) Archive(a engine.Archive) {
	m.steps.archive(a)
	a.Count("steps", &m.t)
}
