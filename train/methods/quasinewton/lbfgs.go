package quasinewton

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// LBFGS minimises the smooth objective by limited-memory BFGS (Nocedal and Wright 2006, section 7.2) with the line search
// of Moré and Thuente, which gonum provides. It is the batch reference for the stochastic methods. The hinge must be smoothed: with a
// given μ LBFGS minimises F_μ, and else μ falls as the certificate allows (annealing). With dense inputs, whose columns are correlated, it takes its steps in a metric (engine.Metric), and remembers more.
//
// A pass is one iteration: a direction, and full passes along it, usually one, until the strong Wolfe conditions hold. Weights
// are float32, so every point of a search is rounded to float32 before it is evaluated, and differences of points match
// differences of gradients to the bit. If rounding makes every search fail, even along the gradient, the method is done.
type LBFGS struct {
	Store int // pairs of differences from which directions are computed; 0 means 6, with a metric up to 30

	Plain bool // no metric for dense inputs

	certificate train.Certificate
	history
	f float64 // F_μ at the last point

	preconditioner
	annealing

	problem *train.Problem
	search  optimize.LinesearchMethod // of the current pass
	ctx     context.Context           // of the current pass, for its direction
	lost    error                     // why it has none
	at      optimize.Location
}

// Name returns "lbfgs".
func (m *LBFGS) Name() string { return "lbfgs" }

// Convex returns true.
func (m *LBFGS) Convex() bool { return true }

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
	m.search.NextDirectioner = (*direction)(m)
	m.search.Linesearcher = &optimize.MoreThuente{DecreaseFactor: 1e-4}
	m.problem = p
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
	last := m.last()
	m.locate(p, m.points[last], m.f, m.grads[last])
	var w []float32
	var pass *engine.FullPass
	m.ctx, m.lost = ctx, nil
	op, failed := m.search.Init(&m.at)
	if m.lost != nil {
		return m.lost
	}
	for range longestSearch {
		if failed != nil || op == optimize.MajorIteration || floats.HasNaN(m.at.X) {
			break
		}
		w = m.round()
		var err error
		if pass, err = evaluate(ctx, p, s, &m.certificate, w, m.smoothing(p)); err != nil {
			return err
		}
		m.locate(p, w, pass.Smoothed, pass.Grad)
		op, failed = m.search.Iterate(&m.at)
	}
	if failed == nil && op == optimize.MajorIteration {
		m.accept(p, s, w, pass)
		if m.μ > leastMu && m.settled(p, w, pass) {
			return m.lower(ctx, p, s)
		}
		return nil
	}
	// Rounding makes the search along this direction fail. Continue from the last point along its gradient, unless that was just tried.
	stuck := len(m.points) == 1
	m.forget()
	if stuck && m.μ > leastMu {
		return m.lower(ctx, p, s)
	}
	s.Done = stuck
	return nil
}

// longestSearch is the most points that a line search may try. Points that are equal after rounding would make it loop forever.
const longestSearch = 40

// accept makes w the last point and shows the results in s.
func (m *LBFGS) accept(p *train.Problem, s *train.State, w []float32, pass *engine.FullPass) {
	m.f = pass.Smoothed
	m.add(w, pass.Grad, cmp.Or(m.Store, m.pairs(len(w))))
	show(p, s, &m.certificate, pass, m.smoothing(p))
}

// round rounds the location to float32.
func (m *LBFGS) round() []float32 {
	w := make([]float32, len(m.at.X))
	for j, x := range m.at.X {
		w[j] = float32(x)
	}
	return w
}

// locate sets the location to w with value f and the gradient g + λ(w−c).
func (m *LBFGS) locate(p *train.Problem, w []float32, f float64, g []float32) {
	if len(m.at.X) != len(w) {
		m.at.X, m.at.Gradient = make([]float64, len(w)), make([]float64, len(w))
	}
	m.at.F = f
	for j, x := range w {
		from := float64(x)
		if p.Center != nil {
			from -= float64(p.Center[j])
		}
		m.at.X[j], m.at.Gradient[j] = float64(x), float64(g[j])+p.Lambda*from
	}
}

// direction is the NextDirectioner of a search.
type direction LBFGS

// InitDirection returns −H∇, shortened to the length 1 if nothing is known about the curvature.
func (d *direction) InitDirection(at *optimize.Location, dir []float64) float64 {
	copy(dir, at.Gradient)
	floats.Scale(-1, dir)
	d.lost = d.apply(d.ctx, d.problem, d.metric, dir)
	if norm := floats.Norm(at.Gradient, 2); d.metric == nil && len(d.points) == 1 && norm > 0 {
		floats.Scale(1/norm, dir)
	}
	return 1
}

// NextDirection is never called, because every search is a new one.
func (d *direction) NextDirection(at *optimize.Location, dir []float64) float64 {
	return d.InitDirection(at, dir)
}

// Archive saves or restores the method's state.
func (m *LBFGS) Archive(a engine.Archive) {
	m.history.archive(a)
	a.Number("value", &m.f)
	m.preconditioner.archive(a)
	m.annealing.archive(a)
	m.certificate.Archive(a)
}
