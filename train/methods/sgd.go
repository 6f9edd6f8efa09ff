package methods

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// SGD is the stochastic subgradient method, for any scorer and any loss. It works on the hinge itself, without
// smoothing, unless a smoothing is given. A step on a batch B is
//
//	w ← w − γ_t ( (1/|B|) Σ_{i∈B} c_i J_iᵀ(u_i − 1_{y_i}) + λ(w − c) ).
//
// A pass visits every example once, in random order. On a network (Davis and Drusvyatskiy 2018) each step draws a new
// dropout mask; evaluating the objective turns dropout off.
//
// With bounds, steps are of mirror descent: they move v, and the oracle sees the weights that are v cut off at the
// bounds.
type SGD struct {
	Rate      float64 // γ0; 0 finds one by a short search on part of the data (sgdsearch.go)
	Schedule  Schedule
	Halving   float64 // t0 in steps, after which the step size has halved (sqrt: fallen to 1/√2); 0 means one pass
	Span              // of the run
	Averaging Averaging
	Momentum  float64 // μ; with it a step moves along z ← μz + (gradient) instead of the gradient (Polyak 1964)
	Nesterov  bool    // a step moves along (gradient) + μz (Nesterov 1983, as Sutskever et al. 2013 write it)
	Local     int     // steps that each of several ranks takes on its own examples between averages; 0: they share each batch
	Clip      float64 // largest norm of a batch's mean gradient, without the regulariser; longer ones are scaled down; 0: any

	path  engine.AffinePath
	steps descentPass // instead of path, with momentum or a bound on the gradient
	rate  float64     // γ0 in use
	first float64     // F at the start, until the first good pass with a searched γ0; then 0
	t     int         // steps taken
}

func (m *SGD) Name() string { return "sgd" }

func (m *SGD) Traits() train.Traits { return train.Traits{Bounds: true} }

// Start begins at s.W, after a search for γ0 if none is given.
func (m *SGD) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if m.Schedule == PegasosSchedule && p.Lambda <= 0 {
		return train.Refuse(m.Name(), train.Regulariser, "needs a regulariser for the pegasos schedule, whose step is "+
			"1/(λ(t+1))")
	}
	if m.Schedule.needsSpan() && m.Passes == 0 {
		return train.Refuse(m.Name(), train.RunLength, "needs to know the number of passes for the %v schedule", m.Schedule)
	}
	if p.Bounds != nil && m.scales() {
		return train.Refuse(m.Name(), train.NoBounds, "takes steps with momentum, clipping or a moving average that know no "+
			"bounds of the weights")
	}
	m.steps.local = localStepsOf(p, m.Local)
	if len(m.path.W) > 0 { // restored
		m.path.Resume(p.Engine, p.Center)
		return nil
	}
	p.Clip(s.W)
	if m.scales() {
		restored := m.steps.resumes()
		if err := train.CheckCenter(m.Name(), p.Engine.Objective); err != nil {
			return err
		}
		if err := m.steps.begin(m.Name(), p.Engine, s.W); err != nil || restored {
			return err
		}
	} else {
		m.path.Start(p.Engine, s.W, p.Center)
	}
	m.rate = m.Rate
	if m.rate == 0 && m.Schedule != PegasosSchedule {
		rate, calls, err := searchRate(ctx, p, s.W)
		if err != nil {
			return err
		}
		m.rate = rate * (1 - m.Momentum) // the steps that momentum adds up are 1/(1−μ) times as long
		s.OracleCalls += calls
		if m.first, _, err = p.Upper(ctx, s.W); err != nil { // which State.Primal is, if the pass is undone
			return err
		}
		s.FullPasses++
	}
	s.Step = m.step(p, float64(m.steps.local.steps(p)))
	return nil
}

// Pass visits every example once. If F has exploded after the first pass with a searched γ0, it undoes the pass and
// halves γ0: the longest step that works on part of the data can be too long for all of it.
func (m *SGD) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	if m.first == 0 {
		return m.pass(ctx, p, s)
	}
	from := append([]float32(nil), s.W...)
	if err := m.pass(ctx, p, s); err != nil {
		if s.Primal, err = diverged(err); err != nil {
			return err
		}
		s.Passes++
	}
	if s.Primal <= exploded*m.first {
		m.first = 0
		return nil
	}
	copy(s.W, from)
	s.Primal = m.first
	if m.scales() {
		m.steps.restart(p.Engine, from)
	} else {
		m.path.Start(p.Engine, from, p.Center)
	}
	m.t = 0
	m.rate /= 2
	return nil
}

// exploded is the largest ratio of F to its first value at which a pass is kept.
const exploded = 2

func (m *SGD) pass(ctx context.Context, p *train.Problem, s *train.State) error {
	perPass := float64(m.steps.local.steps(p))
	if m.scales() {
		rule := engine.MomentumRule
		if m.Nesterov {
			rule = engine.NesterovRule
		}
		return m.steps.pass(ctx, p, s, m.averaging(p), func(q engine.Question) (float64, error) {
			η := m.step(p, perPass)
			m.t++
			_, err := m.steps.descent.Step(ctx, q,
				engine.Move{Rule: rule, Eta: η, Lambda: p.Lambda, Beta: m.Momentum, Clip: m.Clip})
			return η, err
		})
	}
	kind := m.averaging(p)
	if kind == PassAverage {
		m.path.ResetMean()
	}
	γ, local := 0.0, m.steps.local
	err := local.each(ctx, p, local.batches(p, s.Passes), func(_ int, batch []int) error {
		γ = m.step(p, perPass)
		if err := descend(ctx, p, &m.path, batch, γ, local.mask(p, m.t)); err != nil {
			return err
		}
		m.t++
		if kind != NoAverage {
			m.path.Include(kind.weight(m.path.Count))
		}
		return nil
	}, func() error {
		if err := m.path.Finish(); err != nil {
			return err
		}
		return p.Average(ctx, m.path.W)
	})
	if err == nil {
		err = m.path.Finish()
	}
	if err == nil && local > 0 {
		err = p.Average(ctx, m.path.Mean)
	}
	if err != nil {
		return err
	}
	s.Passes++
	s.OracleCalls += p.Len()
	if kind == NoAverage {
		copy(s.W, p.Soften(m.path.W, 0))
	} else {
		copy(s.W, p.Soften(m.path.Mean, 0))
	}
	s.Step = γ
	s.Mu = subgradient(p).Mu
	s.Primal, _, err = p.Upper(ctx, s.W)
	s.FullPasses++
	return err
}

// scales reports whether steps need more than a path holds.
func (m *SGD) scales() bool { return m.Momentum > 0 || m.Clip > 0 || m.Averaging == ExponentialAverage }

// averaging returns the scheme that AutoAverage selects.
func (m *SGD) averaging(p *train.Problem) Averaging {
	switch {
	case m.Averaging != AutoAverage:
		return m.Averaging
	case p.Scorer.Affine():
		return WeightedAverage
	}
	return PassAverage
}

// step returns γ_t, with so many steps in a pass.
func (m *SGD) step(p *train.Problem, perPass float64) float64 {
	if m.Schedule == PegasosSchedule {
		return 1 / (p.Lambda * float64(m.t+1))
	}
	return m.rate * m.Schedule.factor(float64(m.t), perPass, m.Halving, m.Passes) * m.Span.rise(float64(m.t), perPass)
}

// descend takes one subgradient step along a path.
func descend(ctx context.Context, p *train.Problem, w *engine.AffinePath, batch []int, γ float64,
	dropout uint64) error {
	st, err := p.StepAt(ctx, w.At(), batch, subgradient(p), nil, dropout)
	if err != nil {
		return err
	}
	decay, pull := γ*p.Lambda, 0.0
	if p.Center != nil {
		pull = decay
	}
	w.Step(1-decay, pull, -γ/float64(len(batch)), 0, st.Grad)
	return nil
}

// subgradient returns the smoothing that SGD uses: the given one, or none.
func subgradient(p *train.Problem) oracles.Smoothing {
	if p.Smoothing.Mu > 0 {
		return p.Smoothing
	}
	return oracles.Smoothing{}
}

// Archive saves or restores the method's state.
func (m *SGD) Archive(a engine.Archive) {
	m.path.Archive(a)
	m.steps.archive(a)
	a.Number("rate", &m.rate)
	a.Number("first", &m.first)
	a.Refuse(finite(m.rate, m.first), "rate")
	a.Count("steps", &m.t)
}
