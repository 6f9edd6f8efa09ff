package methods

import (
	"cmp"
	"context"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/proximal"
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

// anchor is the snapshot of a variance-reduced method: a point w̃, the marginals ũ_i there, and
//
//	ḡ = (1/n) Σ c_i J_iᵀ(ũ_i − 1_{y_i}).
//
// The difference ∇f_i(w) − ∇f_i(w̃) = J_iᵀ(u_i − ũ_i) takes one pullback, and is exactly zero if the oracle's answer
// has not changed. An anchor's memory need not be saved: a full pass at w̃ reproduces it with the same bits.
type anchor struct {
	at     []float32 // w̃
	from   []float32 // where steps begin, before thresholds; empty: at w̃
	μ      float64   // smoothing of ũ_i
	grad   []float32 // ḡ
	memory *engine.Memory

	path  engine.AffinePath // of the steps
	drift []float32         // the part of a step that does not depend on D
}

// place runs a full pass at w and makes w the anchor.
func (an *anchor) place(ctx context.Context, p *train.Problem, w []float32,
	s oracles.Smoothing) (*engine.FullPass, error) {
	if an.memory == nil {
		var err error
		if an.memory, err = p.NewMemory(); err != nil {
			return nil, err
		}
	}
	an.at, an.μ = append(an.at[:0], w...), s.Mu
	pass, err := p.FullPass(ctx, an.at, s, an.memory)
	if err != nil {
		return nil, err
	}
	an.grad = pass.Grad
	return pass, nil
}

// restore rebuilds the rest of a restored anchor.
func (an *anchor) restore(ctx context.Context, p *train.Problem) error {
	s := p.Smoothing
	s.Mu = an.μ
	_, err := an.place(ctx, p, an.at, s)
	return err
}

// steps takes SVRG steps (Johnson and Zhang 2013) from w̃, on count examples in total, for
//
//	min (1/n) Σ c_i h_μ(…) + (λ/2)‖w−c‖² + (κ/2)‖w−z‖²:
//
//	w ← w − γ(D + ḡ + λ(w−c) + κ(w−z)),    D = (1/|B|) Σ_B c_i J_iᵀ(u_i − ũ_i).
//
// The batches B run through one random permutation of the examples after another. That is no worse than independent
// draws, and better if the steps of a pass are averaged. It returns the mean of the iterates, valid until the next call
// of steps.
//
// With λ₁ > 0 or bounds the steps are those of the regulariser r, in v (convex.go), and so is the mean.
func (an *anchor) steps(ctx context.Context, p *train.Problem, s oracles.Smoothing, pace *Pace, r *proximal.Regulariser,
	κ float64, z []float32,
	draw *rand.Rand, count int) ([]float32, error) {
	λ, c, from := p.Lambda, p.Center, an.at
	if !p.Plain() {
		λ, c, from = r.Lambda, r.Center, an.from
		an.path.Threshold = r.Threshold(p)
	}
	γ := pace.step(pace.lipschitz(s.Mu), λ+κ)
	ρ := 1 - γ*(λ+κ)
	an.drift = append(an.drift[:0], an.grad...)
	vec.Scale(float32(-γ), an.drift)
	if c != nil {
		vec.Axpy(float32(γ*λ), c, an.drift)
	}
	if κ > 0 {
		vec.Axpy(float32(γ*κ), z, an.drift)
	}
	an.path.Start(p.Engine, from, an.drift)
	size, n, every := batchSize(p), p.Len(), an.path.ObserveEvery()
	var order []int
	for done := 0; done < count; {
		if len(order) == 0 {
			order = draw.Perm(n)
		}
		b := min(size, len(order), count-done)
		st, err := p.StepAt(ctx, an.path.At(), order[:b], s, an.memory, 0)
		if err != nil {
			return nil, err
		}
		c, observed := 0.0, pace.measures() && done/size%every == 0
		if observed && done > 0 { // whether answers have moved, a device says late; the first step's have not
			pace.observed++
		}
		if st.Moved > 0 {
			c = -γ / float64(b)
			if observed {
				an.path.Observe(&st, an.at, b)
			}
		}
		an.path.Step(ρ, 1, c, 0, st.Grad)
		an.path.Include(float64(b))
		order, done = order[b:], done+b
	}
	if err := an.path.Finish(); err != nil {
		return nil, err
	}
	rise, progress, err := an.path.Observed()
	if err != nil {
		return nil, err
	}
	pace.rise, pace.progress = pace.rise+rise, pace.progress+progress
	return an.path.Mean, nil
}

func (an *anchor) scratch() **engine.Memory { return &an.memory }

// archive saves or restores w̃; see raise.
func (an *anchor) archive(a engine.Archive) {
	a.Floats("anchor", &an.at)
	a.Floats("anchor.from", &an.from)
	a.Number("anchor.mu", &an.μ)
}
