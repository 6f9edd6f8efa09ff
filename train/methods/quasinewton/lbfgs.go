// Package quasinewton holds the batch methods that model the curvature of the objective from differences of gradients:
// L-BFGS, and OWL-QN for objectives with λ₁‖w‖₁. They are the references for the stochastic methods. The notation is
// that of package train.
package quasinewton

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// LBFGS minimises the smooth objective by limited-memory BFGS (Nocedal and Wright 2006, section 7.2) with the line
// search of Moré and Thuente, which gonum provides. It is the batch reference for the stochastic methods. The hinge
// must be smoothed: with a given μ LBFGS minimises F_μ, and else μ falls as the certificate allows (annealing). With
// dense inputs, whose columns are correlated, it takes its steps in a metric (engine.Metric), and remembers more.
//
// A pass is one iteration: a direction, and full passes along it, usually one, until the strong Wolfe conditions hold.
// Weights are float32, so every point of a search is rounded to float32 before it is evaluated, and differences of
// points match differences of gradients to the bit. If rounding makes every search fail, even along the gradient, the
// method is done.
type LBFGS struct {
	Store int // pairs of differences from which directions are computed; 0 means 6, with a metric up to 30

	Plain bool // no metric for dense inputs

	certificate train.Certificate
	history
	f float64 // F_μ at the last point

	preconditioner
	annealing

	line line // of the current pass
}

func (m *LBFGS) Name() string { return "lbfgs" }

func (m *LBFGS) Traits() train.Traits { return train.Traits{Convex: true} }

// Start evaluates the objective at s.W.
func (m *LBFGS) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if !anneals(p) {
		if err := checkSmooth(m.Name(), p); err != nil {
			return err
		}
	} else if err := train.CheckConvex(m.Name(), p.Scorer); err != nil {
		return err
	} else if len(m.points) == 0 {
		m.μ = firstMu
	}
	if len(m.points) > 0 { // restored
		return m.restore(ctx, p)
	}
	if !m.Plain {
		if err := m.start(ctx, p, m.smoothing(p), s.W); err != nil {
			return err
		}
	}
	pass, err := evaluate(ctx, p, s, &m.certificate, s.W, m.smoothing(p))
	if err != nil {
		return err
	}
	m.accept(p, s, append([]float32(nil), s.W...), pass)
	return nil
}

// Pass runs one iteration.
func (m *LBFGS) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	s.Passes++
	if err := m.next(ctx, p, m.smoothing(p), m.points[m.last()]); err != nil {
		return err
	}
	slope, err := m.direction(ctx, p)
	if err != nil {
		return err
	}
	if slope < 0 { // else −H∇ does not point downhill, or is not finite
		search := &optimize.MoreThuente{DecreaseFactor: 1e-4}
		step := 1.0
		search.Init(m.f, slope, step)
		for range longestSearch {
			w, err := m.line.at(ctx, p, step)
			if err != nil {
				return err
			}
			if slices.Equal(w, m.line.w) {
				break
			}
			pass, err := evaluate(ctx, p, s, &m.certificate, w, m.smoothing(p))
			if err != nil {
				return err
			}
			if slope, err = m.line.slope(ctx, p, w, pass.Grad); err != nil {
				return err
			}
			op, next, failed := search.Iterate(pass.Smoothed, slope)
			if failed != nil {
				break
			}
			if op == optimize.MajorIteration {
				m.accept(p, s, w, pass)
				if m.μ > leastMu && m.settled(p, w, pass) {
					return m.lower(ctx, p, s)
				}
				return nil
			}
			if step = next; math.IsNaN(step) { // from an interpolation between values that are equal after rounding
				break
			}
			p.Reuse(w)
			p.Reuse(pass.Grad)
		}
	}
	// Rounding makes the search along this direction fail. Continue from the last point along its gradient, unless that
	// was just tried.
	stuck := len(m.points) == 1
	m.keep(p, 1)
	if stuck && m.μ > leastMu {
		return m.lower(ctx, p, s)
	}
	s.Done = stuck
	return nil
}

// longestSearch is the most points that a line search may try. Points that are equal after rounding would make it loop
// forever.
const longestSearch = 40

// accept makes w the last point and shows the results in s.
func (m *LBFGS) accept(p *train.Problem, s *train.State, w []float32, pass *engine.FullPass) {
	m.f = pass.Smoothed
	m.add(p, w, pass.Grad, cmp.Or(m.Store, m.pairs(len(w))))
	show(p, s, &m.certificate, pass, m.smoothing(p))
}

// direction makes −H∇ at the last point the direction of the search, shortened to the length 1 if nothing is known
// about the curvature, and returns the slope along it.
func (m *LBFGS) direction(ctx context.Context, p *train.Problem) (slope float64, err error) {
	w, g := m.points[m.last()], m.grads[m.last()]
	m.line.whole = m.metric != nil
	if err = m.line.begin(ctx, p, w, g); err == nil {
		err = m.apply(ctx, p, m.metric, m.line.d)
	}
	if err == nil {
		slope, err = m.line.slope(ctx, p, w, g)
	}
	if norm := math.Sqrt(-slope); err == nil && m.metric == nil && m.last() == 0 && norm > 0 { // d = −∇
		slope, err = -norm, m.line.scale(ctx, p, 1/norm)
	}
	return slope, err
}

// Archive saves or restores the method's state.
func (m *LBFGS) Archive(a engine.Archive) {
	m.history.archive(a)
	a.Number("value", &m.f)
	m.preconditioner.archive(a)
	m.annealing.archive(a)
	m.certificate.Archive(a)
}
