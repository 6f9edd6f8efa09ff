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
// of Moré and Thuente. It is the batch reference for the stochastic methods. gonum provides the directions and the line
// search. The hinge must be smoothed by a given μ, and LBFGS minimises F_μ.
//
// A pass is one iteration: a direction, and full passes along it, usually one, until the strong Wolfe conditions hold. Weights
// are float32, so every point of a search is rounded to float32 before it is evaluated, and differences of points match
// differences of gradients to the bit. If rounding makes every search fail, even along the gradient, the method is done.
type LBFGS struct {
	Store int // pairs of differences from which directions are computed; 0 means 6

	certificate train.Certificate
	f           float64     // F_μ at the last point
	points      [][]float32 // accepted points, the last one at the end; at most Store+1
	grads       [][]float32 // g at those points, without the regulariser's gradient

	lbfgs  optimize.LBFGS            // its history consists of points and grads without the last
	search optimize.LinesearchMethod // of the current pass
	at     optimize.Location
}

// Name returns "lbfgs".
func (m *LBFGS) Name() string { return "lbfgs" }

// Convex returns true.
func (m *LBFGS) Convex() bool { return true }

// Start evaluates the objective at s.W.
func (m *LBFGS) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := checkSmooth(m.Name(), p); err != nil {
		return err
	}
	m.search.NextDirectioner = (*direction)(m)
	m.search.Linesearcher = &optimize.MoreThuente{DecreaseFactor: 1e-4}
	if len(m.points) > 0 { // restored
		m.replay(p)
		return nil
	}
	pass, err := evaluate(ctx, p, s, &m.certificate, s.W)
	if err != nil {
		return err
	}
	m.accept(p, s, append([]float32(nil), s.W...), pass)
	return nil
}

// Pass runs one iteration.
func (m *LBFGS) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	s.Passes++
	m.locate(p, len(m.points)-1)
	var w []float32
	var pass *engine.FullPass
	op, failed := m.search.Init(&m.at)
	for range longestSearch {
		if failed != nil || op == optimize.MajorIteration || floats.HasNaN(m.at.X) {
			break
		}
		w = m.round()
		var err error
		if pass, err = evaluate(ctx, p, s, &m.certificate, w); err != nil {
			return err
		}
		m.locateAt(p, w, pass.Smoothed, pass.Grad)
		op, failed = m.search.Iterate(&m.at)
	}
	if failed == nil && op == optimize.MajorIteration {
		m.accept(p, s, w, pass)
		return nil
	}
	// Rounding makes the search along this direction fail. Continue from the last point along its gradient, unless that was just tried.
	s.Done = len(m.points) == 1
	last := len(m.points) - 1
	m.points, m.grads = m.points[last:], m.grads[last:]
	return nil
}

// longestSearch is the most points that a line search may try. Points that are equal after rounding would make it loop forever.
const longestSearch = 40

// accept makes w the last point and shows the results in s.
func (m *LBFGS) accept(p *train.Problem, s *train.State, w []float32, pass *engine.FullPass) {
	m.f = pass.Smoothed
	m.points, m.grads = append(m.points, w), append(m.grads, pass.Grad)
	if len(m.points) > m.store()+1 {
		m.points, m.grads = m.points[1:], m.grads[1:]
	}
	show(p, s, &m.certificate, pass)
}

func (m *LBFGS) store() int { return cmp.Or(m.Store, 6) }

// round rounds the location to float32.
func (m *LBFGS) round() []float32 {
	w := make([]float32, len(m.at.X))
	for j, x := range m.at.X {
		w[j] = float32(x)
	}
	return w
}

// locate moves the location to point k, with the value of the last point.
func (m *LBFGS) locate(p *train.Problem, k int) { m.locateAt(p, m.points[k], m.f, m.grads[k]) }

// locateAt sets the location to w with value f and the gradient g + λ(w−c).
func (m *LBFGS) locateAt(p *train.Problem, w []float32, f float64, g []float32) {
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

// replay feeds the points before the last to gonum's method, which keeps its history private.
func (m *LBFGS) replay(p *train.Problem) {
	dir := make([]float64, len(m.points[0]))
	kept := m.points
	for k := range len(kept) - 1 {
		m.points = kept[:k+1]
		m.locate(p, k)
		(*direction)(m).InitDirection(&m.at, dir)
	}
	m.points = kept
}

// direction is a NextDirectioner whose history survives a line search.
type direction LBFGS

// InitDirection begins a search, along the gradient if there is no history.
func (d *direction) InitDirection(at *optimize.Location, dir []float64) float64 {
	if len(d.points) == 1 {
		d.lbfgs = optimize.LBFGS{Store: (*LBFGS)(d).store()}
		return d.lbfgs.InitDirection(at, dir)
	}
	return d.lbfgs.NextDirection(at, dir)
}

// NextDirection is never called, because every search is a new one.
func (d *direction) NextDirection(at *optimize.Location, dir []float64) float64 {
	return d.InitDirection(at, dir)
}

// Archive saves or restores the method's state.
func (m *LBFGS) Archive(a engine.Archive) {
	archivePoints(a, &m.points, &m.grads)
	a.Number("value", &m.f)
	m.certificate.Archive(a)
}
