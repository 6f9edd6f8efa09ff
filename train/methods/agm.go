package methods

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// AGM is Nesterov's accelerated gradient method by estimate functions, AGM-EF of Zhang, Saha and Vishwanathan 2011,
// with adaptive L, for the smoothed mean loss f and the elastic net Ψ, in Euclid's norm. It takes all examples at once.
//
// With the memory of all (Algorithm 2) the estimate function is
//
//	ψ_k(w) = ½‖w − x_0‖² + A_k Ψ(w) + Σ a_i [f(u_i) + ⟨g_i, w − u_i⟩],    z_k = argmin ψ_k,
//
// with g_i the gradient of f at u_i and A_k = Σ a_i. An iteration chooses a by (a+A)(λA+1) + aλA = La², and
//
//	u = (aτ₁z + (τA + τ₃a)x)/(τA'),    x' = (Ax + az')/A',    A' = A + a,    τ₁ = 1+λA,  τ₃ = λaA/A',  τ = τ₁+τ₃,
//
// and L doubles until A'J(x') ≤ ψ'(z'), for J = f + Ψ. With the memory of one (Algorithm 4) a quadratic of curvature c
// around z_k stands for ψ_k, and a, in (0, 1), fulfils (1−a)(c+λa) = La².
//
// The dual point (1/A) Σ a_i α(u_i) of the oracle's answers α(u_i) bounds the optimum (the paper's Theorems 10 and 18).
// The certificate has it, and the last passes. For the hinge, μ halves once the optimisation error is below half of the
// smoothing bias (annealing), and the estimate starts anew. A pass is an iteration: two full passes, and two more for
// each value of L that was too small.
type AGM struct {
	One bool // the memory of one

	convex
	x, z  []float32
	from  []float32   // x_0
	l     float64     // L
	a     float64     // A, or c with the memory of one
	value float64     // ψ_k(z_k), with the memory of one
	mean  dualMixture // of the passes at u_i, by a_i
	model float64     // the mean of f(u_i) − ⟨g_i, u_i⟩
	fresh bool        // the estimate starts at x
}

const (
	raiseL    = 2
	lowerL    = 1.2
	mostRaise = 60
	forgotten = 1e10 // λA
	agmNoise  = 4e-7 // rounding in J, relatively
	agmBias   = 0.5  // μ falls once the optimisation error is below this share of the bias
)

func (m *AGM) Name() string { return "agm" }

func (m *AGM) Traits() train.Traits { return train.Traits{Convex: true, L1: true} }

// Start begins at s.W.
func (m *AGM) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	restored, err := m.start(ctx, m.Name(), p, s)
	if err != nil {
		return err
	}
	if restored {
		if n := p.Scorer.Dim(); len(m.x) != n || len(m.z) != n || len(m.from) != n || len(m.mean.grad) != n {
			return structured.BadInput("the checkpoint is damaged: it has %d weights, expected %d", len(m.x), n)
		}
		return nil
	}
	m.x, m.z, m.from = append([]float32(nil), s.W...), append([]float32(nil), s.W...), append([]float32(nil), s.W...)
	m.mean.grad = make([]float64, len(s.W))
	m.fresh = true
	return nil
}

// Pass takes an iteration.
func (m *AGM) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	if m.fresh {
		m.restart()
	}
	if m.l == 0 {
		if err := m.guess(ctx, p, s); err != nil {
			return err
		}
	}
	s.Passes++
	m.l /= lowerL
	for range mostRaise {
		t, err := m.try(ctx, p, s)
		if err != nil {
			return err
		}
		if t.fits() {
			return m.accept(ctx, p, s, t)
		}
		m.l *= raiseL
	}
	s.Done = true // nothing is lower in float32
	m.certificate.Show(s)
	return nil
}

// guess sets L to a number that it exceeds: f ≥ 0 with a Lipschitz gradient has ‖∇f‖² ≤ 2Lf.
func (m *AGM) guess(ctx context.Context, p *train.Problem, s *train.State) error {
	pass, err := m.evaluate(ctx, p, s, m.x)
	if err != nil {
		return err
	}
	if m.l = vec.Norm2(pass.Grad) / (2 * (pass.Smoothed - p.Regulariser(m.x))); !(m.l > 0) || math.IsInf(m.l, 0) {
		m.l = 1
	}
	return nil
}

// trial is an iteration with a value of L.
type trial struct {
	x, z     []float32
	a        float64 // A', or c'
	share    float64 // of the pass at u in the mean
	model    float64
	estimate float64 // ψ'(z')/A', or q'(z')
	at, to   *engine.FullPass
}

// fits reports whether J(x') ≤ ψ'(z')/A'.
func (t *trial) fits() bool { return t.to.Smoothed <= t.estimate+agmNoise*math.Abs(t.to.Smoothed) }

// restart begins a new estimate at x.
func (m *AGM) restart() {
	copy(m.from, m.x)
	copy(m.z, m.x)
	clear(m.mean.grad)
	m.mean = dualMixture{grad: m.mean.grad}
	m.a, m.value, m.model = 0, 0, 0
}

// try takes an iteration with the current L.
func (m *AGM) try(ctx context.Context, p *train.Problem, s *train.State) (*trial, error) {
	t, a, u := &trial{}, 0.0, m.from
	λ, first := p.Lambda, m.a == 0
	switch {
	case m.One && first:
	case m.One:
		c, l := m.a, m.l+λ
		a = (λ - c + math.Sqrt((c-λ)*(c-λ)+4*l*c)) / (2 * l)
		u = between(m.x, m.z, a*c/(c+λ*a)) // τ₁ = (1−a)c, τ₃ = (1−a)λa, and 1−a is 0 after rounding where L is tiny beside λ
	default:
		A := m.a
		b := 2*λ*A + 1
		a = (b + math.Sqrt(b*b+4*m.l*A*(λ*A+1))) / (2 * m.l)
		if !first {
			τ1, τ3 := 1+λ*A, λ*a*A/(A+a)
			u = between(m.x, m.z, a*τ1/((τ1+τ3)*(A+a)))
		}
	}
	var err error
	if t.at, err = m.evaluate(ctx, p, s, u); err != nil {
		return nil, err
	}
	f := t.at.Smoothed - p.Regulariser(u)
	intercept := f - vec.Dot64(t.at.Grad, u)
	t.z = make([]float32, len(u))
	switch {
	case m.One && first:
		t.share, t.a, t.model = 1, m.l+λ, intercept
		m.minimise(p, t, 1, m.l, u, 1)
		t.x = t.z
		t.estimate = m.l/2*vec.Dist2(t.z, u) + p.Regulariser(t.z) + intercept + vec.Dot64(t.at.Grad, t.z)
	case m.One:
		t.share, t.a = a, (1-a)*m.a+λ*a
		t.model = m.model + a*(intercept-m.model)
		m.minimise(p, t, a, (1-a)*m.a, m.z, a)
		t.x = between(m.x, t.z, a)
		t.estimate = (1-a)*(m.a/2*vec.Dist2(t.z, m.z)+m.value) + a*(intercept+vec.Dot64(t.at.Grad, t.z)+p.Regulariser(t.z))
	default:
		t.a = m.a + a
		t.share = a / t.a
		t.model = m.model + t.share*(intercept-m.model)
		m.minimise(p, t, t.share, 1/t.a, m.from, 1)
		t.x = between(m.x, t.z, t.share)
		t.estimate = vec.Dist2(t.z, m.from)/(2*t.a) + p.Regulariser(t.z) + t.model
		for j, g := range m.mean.grad {
			t.estimate += (g + t.share*(float64(t.at.Grad[j])-g)) * float64(t.z[j])
		}
	}
	t.to, err = m.evaluate(ctx, p, s, t.x)
	return t, err
}

// minimise sets z' to the minimiser of (near/2)‖w − v‖² + weight·(⟨g,w⟩ + Ψ(w)), where g is the gradient at u, or with
// the memory of all the mean of all gradients, that at u with the given share.
func (m *AGM) minimise(p *train.Problem, t *trial, share, near float64, v []float32, weight float64) {
	raw := make([]float32, len(v))
	λ := weight * p.Lambda
	for j := range raw {
		g := float64(t.at.Grad[j])
		if !m.One {
			g = m.mean.grad[j] + share*(g-m.mean.grad[j])
		}
		x := near*float64(v[j]) - weight*g
		if p.Center != nil {
			x += λ * float64(p.Center[j])
		}
		raw[j] = float32(x / (near + λ))
	}
	copy(t.z, p.Soften(raw, float32(weight*p.L1/(near+λ))))
}

// evaluate runs a full pass at w, which the certificate records.
func (m *AGM) evaluate(ctx context.Context, p *train.Problem, s *train.State, w []float32) (*engine.FullPass, error) {
	pass, err := p.FullPass(ctx, w, m.smoothing(p), nil)
	if err != nil {
		return nil, err
	}
	s.OracleCalls += p.Len()
	return pass, m.certificate.Record(ctx, p.Engine, w, pass)
}

// accept takes a trial, and records its dual point.
func (m *AGM) accept(ctx context.Context, p *train.Problem, s *train.State, t *trial) error {
	m.fresh = false
	m.mean.add(t.share, t.at)
	m.x, m.z, m.a, m.model, m.value = t.x, t.z, t.a, t.model, t.estimate
	if err := m.certificate.RecordDual(ctx, p.Engine, m.mean.recompose(p)); err != nil {
		return err
	}
	s.FullPasses-- // record counts the pass at x, which was an oracle's
	if err := m.record(ctx, p, s, m.x, t.to); err != nil {
		return err
	}
	s.Step = 1 / m.l
	if p.Lambda*m.a > forgotten && !m.One { // x_0 does not count any more, and A would grow without bounds
		m.fresh = true
	}
	if bias, e := split(p.Objective, m.x, t.to); !given(p) && e < agmBias*bias {
		m.μ /= raiseL
		m.l *= raiseL
		m.fresh = true
	}
	return nil
}

// between returns x + share·(z − x).
func between(x, z []float32, share float64) []float32 {
	w := make([]float32, len(x))
	for j := range w {
		w[j] = float32(float64(x[j]) + share*(float64(z[j])-float64(x[j])))
	}
	return w
}

// Archive saves or restores the method's state.
func (m *AGM) Archive(a engine.Archive) {
	m.convex.archive(a)
	a.Floats("x", &m.x)
	a.Floats("z", &m.z)
	a.Floats("from", &m.from)
	a.Number("lipschitz", &m.l)
	a.Number("weight", &m.a)
	a.Number("estimate", &m.value)
	m.mean.archive(a)
	a.Number("model", &m.model)
	fresh := 0
	if m.fresh {
		fresh = 1
	}
	a.Count("fresh", &fresh)
	m.fresh = fresh == 1
}
