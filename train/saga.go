package train

import (
	"context"

	"github.com/dsp-go/dsp/structured/vec"
)

// SAGA minimises the smoothed objective F_μ of an affine scorer (Defazio, Bach and Lacoste-Julien 2014). It remembers of
// every example the marginals r_i that it was answered last, and the mean of their gradients,
//
//	ḡ = (1/n) Σ c_i J_iᵀ(r_i − 1_{y_i}).
//
// A step on a batch B is
//
//	D = Σ_B c_i J_iᵀ(u_i − r_i),    w ← w − γ (D/|B| + ḡ + λ(w−c)),    ḡ ← ḡ + D/n,    r_i ← u_i,
//
// and a pass takes every example once, in random order. After it ḡ is made anew from the memory, against rounding; the
// memory is a dual point whose bound the certificate takes in, beside that of a full pass at the mean iterate of the
// pass. The state shows the mean iterate with the least F(w) and the best bound.
type SAGA struct {
	Pace

	convex
	w      []float32
	mean   []float32 // ḡ
	memory *Memory
}

// Name returns "saga".
func (m *SAGA) Name() string { return "saga" }

// Start fills the memory at s.W.
func (m *SAGA) Start(ctx context.Context, p *Problem, s *State) error {
	restored, err := m.start(ctx, m.Name(), p, s)
	if err != nil {
		return err
	}
	if restored {
		m.memory = m.memory.attach(p.Objective)
		return nil
	}
	m.memory = NewMemory(p.Objective)
	m.w = append([]float32(nil), s.W...)
	pass, err := p.FullPass(ctx, m.w, m.smoothing(p), m.memory)
	if err != nil {
		return err
	}
	m.mean = pass.Grad
	m.see(p, s, m.w, pass)
	return m.Pace.begin(ctx, p, s, m.w, pass, m.smoothing(p))
}

// Pass takes every example once.
func (m *SAGA) Pass(ctx context.Context, p *Problem, s *State) error {
	by, γ := m.smoothing(p), m.step(3*m.lipschitz(m.μ), p.Lambda)
	s.Step = γ
	r := p.Rand(m.epochs)
	order, size, n := r.Perm(p.Len()), batchSize(p), float64(p.Len())
	from := append([]float32(nil), m.w...)
	average := make([]float32, len(m.w)) // less from
	for done := 0; done < len(order); {
		b := min(size, len(order)-done)
		st, err := p.Step(ctx, m.w, order[done:done+b], by, m.memory)
		if err != nil {
			return err
		}
		m.follow(p, st, b, γ)
		vec.AddScaledDiff(float32(float64(b)/n), m.w, from, average)
		done += b
	}
	m.count(p, s, len(order))
	if m.measures() {
		if err := m.probe(ctx, p, s, from, m.w, by, r); err != nil {
			return err
		}
		m.settle(by.Mu)
	}
	vec.Axpy(1, from, average)
	g, linear, err := p.Recompose(ctx, m.w, m.memory)
	if err != nil {
		return err
	}
	s.FullPasses++
	m.mean = g
	m.certificate.SeeDual(p.Objective, linear, g)
	pass, err := p.FullPass(ctx, average, by, nil)
	if err != nil {
		return err
	}
	m.see(p, s, average, pass)
	m.μ *= m.fall
	return nil
}

// follow moves the weights, ḡ and the memory after a step on b examples.
func (m *SAGA) follow(p *Problem, st Step, b int, γ float64) {
	vec.Axpby(float32(-γ), m.mean, float32(1-γ*p.Lambda), m.w)
	if p.Center != nil {
		vec.Axpy(float32(γ*p.Lambda), p.Center, m.w)
	}
	if st.Moved > 0 {
		st.Grad.AddTo(float32(-γ/float64(b)), m.w)
		st.Grad.AddTo(1/float32(p.Len()), m.mean)
		p.Remember(m.memory, 1)
	}
}

// Archive saves or restores the method's state.
func (m *SAGA) Archive(a Archive) {
	m.convex.archive(a)
	m.Pace.archive(a)
	a.Floats("iterate", &m.w)
	a.Floats("mean", &m.mean)
	archiveMemory(a, &m.memory)
}
