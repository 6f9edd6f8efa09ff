package methods

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/proximal"
)

// convex is the common part of the smoothed convex methods: smoothing that falls, step sizes and a certificate.
//
// With λ₁ > 0 the methods that take it walk in v, and the oracle sees w = soft(v, λ₁/λ) (engine/elasticnet.go). A step
// v ← v − γ(∇ + λ(v−c)) is one of mirror descent with the mirror map ½‖w−c‖² + (λ₁/λ)‖w‖₁, with respect to which the
// objective is as smooth, and as strongly convex, as without λ₁ in Euclid's norm (Lu, Freund and Nesterov 2018). Other
// than proximal steps, which threshold after each step (Xiao and Zhang 2014 for SVRG; Defazio, Bach and Lacoste-Julien
// 2014 for SAGA), it leaves steps linear, so that rows of weights that a step does not touch cost nothing. Where λ is
// small, or 0, a proximal term helps (package proximal). Bounds of the weights are part of the mirror map in the same
// way.
type convex struct {
	annealing
	regulariser proximal.Regulariser // that the steps see
	certificate train.Certificate

	begun  bool // Start was called, before or after the method was restored
	epochs int  // passes of steps so far
}

func (m *convex) Traits() train.Traits { return train.Traits{Convex: true} }

// start checks the problem and chooses the first smoothing. It reports whether the method was restored.
func (m *convex) start(ctx context.Context, name string, p *train.Problem, s *train.State) (restored bool, err error) {
	if err := m.check(name, p); err != nil {
		return false, err
	}
	restored = m.begun
	m.begun = true
	f := 0.0
	if !restored && !given(p) {
		if f, err = p.Value(ctx, s.W); err != nil {
			return false, err
		}
		s.FullPasses++
	}
	m.annealing.begin(p, f)
	if err := train.CheckThresholds(name, p.Engine); err != nil {
		return restored, err
	}
	if !restored {
		m.regulariser.Begin(p)
	}
	return restored, nil
}

// record adds a full pass at w to the certificate, lets it decide how far μ falls next, and shows the results in s.
func (m *convex) record(ctx context.Context, p *train.Problem, s *train.State, w []float32,
	pass *engine.FullPass) error {
	s.FullPasses++
	if err := m.certificate.Record(ctx, p.Engine, w, pass); err != nil {
		return err
	}
	m.consider(p, w, pass)
	m.certificate.Show(s)
	s.Done = pass.Primal <= p.Constant // losses are never negative
	if !p.Loss.Smooth() {
		s.Smoothed, s.Mu = pass.Smoothed, m.μ
		if p.Smoothing.Kind == oracles.L2 {
			s.Exact = pass.Exact
		}
	}
	return nil
}

// count adds steps on this many examples to s.
func (m *convex) count(p *train.Problem, s *train.State, examples int) {
	m.epochs++
	s.OracleCalls += examples
	s.Passes += max(1, int(math.Round(float64(examples)/float64(p.Len()))))
}

func (m *convex) archive(a engine.Archive) {
	begun := 0
	if m.begun {
		begun = 1
	}
	a.Count("begun", &begun)
	m.begun = begun == 1
	a.Count("epochs", &m.epochs)
	m.annealing.archive(a)
	m.regulariser.Archive(a)
	m.certificate.Archive(a)
}
