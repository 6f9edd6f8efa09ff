package methods

import (
	"cmp"
	"context"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// SVRG minimises the smoothed objective F_μ of an affine scorer (Johnson and Zhang 2013; with smoothing, Pillutla et
// al. 2019, section 7.2).
//
// A pass starts at a snapshot w̃ with its full gradient, takes steps
//
//	w ← w − γ (∇f_i(w) − ∇f_i(w̃) + ∇F_μ(w̃) + λ(w−w̃))
//
// on n examples in total, and makes the mean of the iterates the next snapshot. For the hinge μ is the problem's; if
// the problem gives none, it falls as the certificate allows (annealing).
//
// The state shows the snapshot with the least F(w) and the best lower bound of the certificate.
type SVRG struct {
	Pace
	Budget int // examples between snapshots; 0 means n

	convex
	anchor anchor
}

func (m *SVRG) Name() string { return "svrg" }

func (m *SVRG) Traits() train.Traits { return train.Traits{Convex: true, L1: true, Bounds: true} }

// Start takes the first snapshot, at s.W.
func (m *SVRG) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := m.checkLoss(m.Name(), p.Objective); err != nil {
		return err
	}
	restored, err := m.start(ctx, m.Name(), p, s)
	if err != nil {
		return err
	}
	if restored {
		return m.anchor.restore(ctx, p)
	}
	p.Clip(s.W)
	pass, err := m.anchor.place(ctx, p, s.W, m.smoothing(p))
	if err != nil {
		return err
	}
	if !p.Plain() {
		m.anchor.from = p.Unsoften(s.W, m.regulariser.Threshold(p))
	}
	if err := m.record(ctx, p, s, s.W, pass); err != nil {
		return err
	}
	return m.Pace.begin(ctx, p, s, s.W, pass, m.smoothing(p))
}

// Pass takes the steps from one snapshot to the next.
func (m *SVRG) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	examples := cmp.Or(m.Budget, p.Len())
	s.Step = m.step(m.lipschitz(m.μ), m.regulariser.Lambda)
	v, err := m.anchor.steps(ctx, p, m.smoothing(p), &m.Pace, &m.regulariser, 0, nil, p.Rand(m.epochs), examples)
	if err != nil {
		return err
	}
	m.count(p, s, examples)
	m.update(m.μ)
	m.μ *= m.fall
	w := p.Soften(v, m.anchor.path.Threshold)
	pass, err := m.anchor.place(ctx, p, w, m.smoothing(p))
	if err != nil {
		return err
	}
	if err := m.record(ctx, p, s, w, pass); err != nil {
		return err
	}
	if !p.Plain() {
		m.anchor.from = append(m.anchor.from[:0], v...)
		m.regulariser.Advance(p, w, pass.Primal, m.anchor.from)
	}
	return nil
}

func (m *SVRG) scratch() **engine.Memory { return m.anchor.scratch() }

// Archive saves or restores the method's state.
func (m *SVRG) Archive(a engine.Archive) {
	m.convex.archive(a)
	m.Pace.archive(a)
	m.anchor.archive(a)
}
