package quasinewton

import (
	"cmp"
	"context"
	"math"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// OWLQN minimises an objective with λ₁‖w‖₁ by the orthant-wise limited-memory quasi-Newton method (Andrew and Gao
// 2007). It is the reference for proximal SDCA. λ may be 0. The hinge must be smoothed by a given μ.
//
// With ∇ the gradient of F without λ₁‖w‖₁, the pseudo-gradient is the right or left derivative that is steepest
// downhill,
//
//	◇_j = ∇_j + λ₁ sign(w_j)                     where w_j ≠ 0,
//	◇_j = sign(∇_j)·max(|∇_j| − λ₁, 0)           where w_j = 0,
//
// and it is zero at the optimum only. An iteration computes the direction d = −H◇ from the differences of points and of
// ∇ as L-BFGS does, sets d_j to 0 where it does not point downhill along ◇_j, and searches along the projection of w +
// αd on the orthant of w (where w_j = 0: of −◇), in which F is smooth. Coordinates that would leave the orthant become
// exactly zero. Weights that λ₁ leaves alone have no orthant, and ◇_j = ∇_j. α halves until
//
//	F(w') ≤ F(w) + 10⁻⁴⟨◇, w' − w⟩.
//
// A pass is one iteration. If rounding makes every search fail, even along −◇, the method is done.
type OWLQN struct {
	Store int // pairs of differences from which directions are computed; 0 means 6

	certificate train.Certificate
	history
	f    float64 // F_μ at the last point
	free []bool  // the weights that λ₁ leaves alone

	line   line      // of the current pass
	pseudo []float64 // ◇ in this rank's ranges
}

const (
	armijo   = 1e-4
	halvings = 40 // most points that a search tries
)

func (m *OWLQN) Name() string { return "owl-qn" }

func (m *OWLQN) Traits() train.Traits { return train.Traits{Convex: true, L1: true} }

// Start evaluates the objective at s.W.
func (m *OWLQN) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := checkSmooth(m.Name(), p); err != nil {
		return err
	}
	m.free = make([]bool, len(s.W))
	for _, r := range nets.Unshrunk(p.Scorer) {
		for j := r[0]; j < r[1]; j++ {
			m.free[j] = true
		}
	}
	if len(m.points) > 0 { // restored
		return nil
	}
	pass, err := evaluate(ctx, p, s, &m.certificate, s.W, p.Smoothing)
	if err != nil {
		return err
	}
	m.accept(p, s, append([]float32(nil), s.W...), pass)
	return nil
}

// Pass runs one iteration.
func (m *OWLQN) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	s.Passes++
	last := m.last()
	if err := m.direction(ctx, p); err != nil {
		return err
	}
	α := 1.0
	if last == 0 {
		size, err := p.OverRanges(ctx, len(m.pseudo), 1, true, func(lo, hi int, sums []float64) {
			for _, x := range m.pseudo[lo:hi] {
				sums[0] += x * x
			}
		})
		if err != nil {
			return err
		}
		if size[0] > 0 {
			α = min(1, 1/math.Sqrt(size[0]))
		}
	}
	for range halvings {
		next, slope, err := m.step(ctx, p, α)
		if err != nil {
			return err
		}
		if slope >= 0 { // nothing moves in float32
			break
		}
		pass, err := evaluate(ctx, p, s, &m.certificate, next, p.Smoothing)
		if err != nil {
			return err
		}
		if pass.Smoothed <= m.f+armijo*slope {
			m.accept(p, s, next, pass)
			return nil
		}
		α /= 2
		p.Reuse(next)
		p.Reuse(pass.Grad)
	}
	// Rounding makes the search along this direction fail. Continue along the pseudo-gradient, unless that was just
	// tried.
	s.Done = last == 0
	m.keep(p, 1)
	return nil
}

// direction makes −H◇ at the last point the direction of the search, where that points downhill along −◇, and 0
// elsewhere.
func (m *OWLQN) direction(ctx context.Context, p *train.Problem) error {
	w, g := m.points[m.last()], m.grads[m.last()]
	m.line.w, m.line.d, m.pseudo = w, vec.Grow(m.line.d, len(w)), vec.Grow(m.pseudo, len(w))
	d, pseudo := m.line.d, m.pseudo
	_, err := p.OverRanges(ctx, len(w), 0, true, func(lo, hi int, _ []float64) {
		for j := lo; j < hi; j++ {
			x, slope := w[j], smoothSlope(p, j, w[j], g[j])
			switch {
			case m.free[j]:
			case x > 0:
				slope += p.L1
			case x < 0:
				slope -= p.L1
			default:
				slope = math.Copysign(max(math.Abs(slope)-p.L1, 0), slope)
			}
			pseudo[j], d[j] = slope, -slope
		}
	})
	if err == nil {
		err = m.apply(ctx, p, nil, d)
	}
	if err != nil {
		return err
	}
	_, err = p.OverRanges(ctx, len(w), 0, true, func(lo, hi int, _ []float64) {
		for j := lo; j < hi; j++ {
			if d[j]*pseudo[j] >= 0 && !m.free[j] {
				d[j] = 0
			}
		}
	})
	return err
}

// step returns the projection of w + αd on the orthant of w and −◇, and ⟨◇, w' − w⟩.
func (m *OWLQN) step(ctx context.Context, p *train.Problem, α float64) (next []float32, slope float64, err error) {
	w, d, pseudo := m.line.w, m.line.d, m.pseudo
	next = p.Vector(len(w))
	total, err := p.OverRanges(ctx, len(w), 1, true, func(lo, hi int, sums []float64) {
		for j := lo; j < hi; j++ {
			x := w[j]
			to := float32(float64(x) + α*d[j])
			if side := float64(x); !m.free[j] && (side*float64(to) < 0 || side == 0 && float64(to)*pseudo[j] > 0) {
				to = 0
			}
			next[j] = to
			sums[0] += pseudo[j] * (float64(to) - float64(x))
		}
	})
	if err = m.line.share(ctx, p, next, err); err != nil {
		return nil, 0, err
	}
	return next, total[0], nil
}

// accept makes w the last point and shows the results in s.
func (m *OWLQN) accept(p *train.Problem, s *train.State, w []float32, pass *engine.FullPass) {
	m.f = pass.Smoothed
	m.add(p, w, pass.Grad, cmp.Or(m.Store, 6))
	show(p, s, &m.certificate, pass, p.Smoothing)
}

// Archive saves or restores the method's state.
func (m *OWLQN) Archive(a engine.Archive) {
	m.history.archive(a)
	a.Number("value", &m.f)
	m.certificate.Archive(a)
}

// checkSmooth rejects objectives that are not smooth apart from λ₁‖w‖₁, and scores that are not linear in the weights.
func checkSmooth(method string, p *train.Problem) error {
	if err := train.CheckConvex(method, p.Scorer); err != nil {
		return err
	}
	if p.Loss == engine.Hinge && (p.Smoothing.Kind == oracles.None || p.Smoothing.Mu <= 0) {
		return train.Refuse(method, train.SmoothObjective, "needs a smooth objective, and the hinge is not, unless it is smoothed by a given μ")
	}
	return nil
}

// evaluate runs a full pass at w, which counts as n oracle calls.
func evaluate(ctx context.Context, p *train.Problem, s *train.State, certificate *train.Certificate, w []float32, by oracles.Smoothing) (*engine.FullPass, error) {
	pass, err := p.FullPass(ctx, w, by, nil)
	if err != nil {
		return nil, err
	}
	s.OracleCalls += p.Len()
	return pass, certificate.Record(ctx, p.Engine, w, pass)
}

// show shows what a full pass found out.
func show(p *train.Problem, s *train.State, certificate *train.Certificate, pass *engine.FullPass, by oracles.Smoothing) {
	certificate.Show(s)
	if !p.Loss.Smooth() {
		s.Smoothed, s.Mu = pass.Smoothed, by.Mu
		if p.Smoothing.Kind == oracles.L2 {
			s.Exact = pass.Exact
		}
	}
}
