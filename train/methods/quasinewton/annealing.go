package quasinewton

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// annealing is the smoothing of a hinge problem that gives no μ. It begins at 1, the curvature of a log-sum-exp loss,
// whatever the data. A full pass at w with marginals u splits F(w) − D(u) into the smoothing bias and the optimisation
// error ‖∇F_μ(w)‖²/2λ. Once the error is below twice the bias, μ falls. The sharper objective begins where the smoother
// one ended, which is near its optimum. From the centre a sharp one takes several times as long.
type annealing struct {
	μ float64 // 0: nothing to anneal
}

const (
	firstMu   = 1
	fallOfMu  = 0.7
	tolerance = 2      // the error may be this many biases
	renewMu   = 1. / 3 // a metric is good while μ is more than this part of its own
	leastMu   = 1e-7   // with less, float32 potentials tell no differences
)

// anneals reports whether the method chooses μ: for a hinge smoothed by entropies, if there are bounds to choose it by.
func anneals(p *train.Problem) bool {
	return p.Loss == engine.Hinge && p.Smoothing.Kind == oracles.Entropy && p.Smoothing.Mu == 0 && p.Lambda > 0 && !p.Partial()
}

// smoothing returns the smoothing of the objective with the current μ.
func (an *annealing) smoothing(p *train.Problem) oracles.Smoothing {
	s := p.Smoothing
	if an.μ > 0 {
		s.Mu = an.μ
	}
	return s
}

// settled reports whether μ should fall after a full pass at w.
func (an *annealing) settled(p *train.Problem, w []float32, pass *engine.FullPass) bool {
	norm, from, product := 0.0, 0.0, 0.0 // ‖g + λ(w−c)‖², ‖w−c‖², ⟨g,w−c⟩
	for j, x := range w {
		d, g := float64(x), float64(pass.Grad[j])
		if p.Center != nil {
			d -= float64(p.Center[j])
		}
		h := g + p.Lambda*d
		norm += h * h
		from += d * d
		product += g * d
	}
	bias := pass.Primal - p.Lambda/2*from - p.AtCenter(pass.Linear, pass.Grad) - product
	return norm/(2*p.Lambda) < tolerance*bias
}

// lower lets μ fall and evaluates the sharper objective at the last point.
func (m *LBFGS) lower(ctx context.Context, p *train.Problem, s *train.State) error {
	m.μ *= fallOfMu
	last := m.last()
	if m.μ < renewMu*m.by {
		if err := m.renew(ctx, p, m.smoothing(p), m.points[last]); err != nil {
			return err
		}
	}
	pass, err := evaluate(ctx, p, s, &m.certificate, m.points[last], m.smoothing(p))
	if err != nil {
		return err
	}
	m.sharpen(pass.Grad, 1/fallOfMu)
	m.f = pass.Smoothed
	show(p, s, &m.certificate, pass, m.smoothing(p))
	return nil
}

// sharpen makes g the gradient at the last point, of an objective that is more curved by a factor, and moves the other
// gradients so that their differences are those of the new objective, as far as the old one tells.
func (h *history) sharpen(g []float32, factor float32) {
	last := h.last()
	for k := range last {
		for j, x := range h.grads[k] {
			h.grads[k][j] = g[j] + factor*(x-h.grads[last][j])
		}
	}
	h.grads[last] = g
}

func (an *annealing) archive(a engine.Archive) { a.Number("annealed", &an.μ) }
