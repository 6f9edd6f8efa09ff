package methods

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// SAGA minimises the smoothed objective F_μ of an affine scorer (Defazio, Bach and Lacoste-Julien 2014). For every
// example it stores the marginals r_i of the oracle's last answer. It also keeps the mean of their gradients,
//
//	ḡ = (1/n) Σ c_i J_iᵀ(r_i − 1_{y_i}).
//
// A step on a batch B is
//
//	D = Σ_B c_i J_iᵀ(u_i − r_i),    w ← w − γ (D/|B| + ḡ + λ(w−c)),    ḡ ← ḡ + D/n,    r_i ← u_i,
//
// and a pass visits every example once, in random order. After the pass, ḡ is recomputed from the memory to remove
// rounding errors. The memory is a dual point; the certificate records its bound, and that of a full pass at the pass's
// mean iterate. The state shows the mean iterate with the least F(w) and the best bound.
//
// With Async, threads take batches without waiting for each other (engine.Asynchronous), on attributes. A step then
// changes the weights of the attributes of its batch alone, so there is no mean of the iterates, and the certificate
// records the last one. Results vary from run to run; certificates hold as ever, because the memory is a dual point
// whatever the order of steps was.
type SAGA struct {
	Pace
	Async bool

	convex
	w      []float32
	mean   []float32 // ḡ at the end of the last pass
	memory *engine.Memory
	path   engine.AffinePath
	drift  []float32 // γ(λc − ḡ)
	alone  *engine.Asynchronous
}

var _ train.MemoryKeeper = &SAGA{}

func (m *SAGA) Name() string { return "saga" }

func (m *SAGA) Traits() train.Traits { return train.Traits{Convex: true, L1: true, Bounds: true} }

// Start fills the memory with the answers at s.W.
func (m *SAGA) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := m.checkLoss(m.Name(), p.Objective); err != nil {
		return err
	}
	if err := m.checkAsync(p); err != nil {
		return err
	}
	restored, err := m.start(ctx, m.Name(), p, s)
	if err != nil {
		return err
	}
	if restored {
		m.memory, err = p.Attach(m.memory)
		return err
	}
	if m.memory == nil {
		if m.memory, err = p.NewMemory(); err != nil {
			return err
		}
	}
	p.Clip(s.W)
	m.w = append([]float32(nil), s.W...)
	pass, err := p.FullPass(ctx, s.W, m.smoothing(p), m.memory)
	if err != nil {
		return err
	}
	m.mean = pass.Grad
	if err := m.record(ctx, p, s, m.w, pass); err != nil {
		return err
	}
	if err := m.Pace.begin(ctx, p, s, m.w, pass, m.smoothing(p)); err != nil || p.Plain() {
		return err
	}
	m.w = p.Unsoften(m.w, m.regulariser.Threshold(p))
	return nil
}

// Pass visits every example once.
func (m *SAGA) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	by, γ := m.smoothing(p), m.step(3*m.lipschitz(m.μ), m.regulariser.Lambda)
	s.Step = γ
	p.Watch()
	r := p.Rand(m.epochs)
	order, size := r.Perm(p.Len()), batchSize(p)
	if m.Async {
		return m.passAsync(ctx, p, s, r, γ, size, order)
	}
	m.depart(p, γ)
	τ := m.path.Threshold
	for done := 0; done < len(order); {
		b := min(size, len(order)-done)
		if err := m.move(ctx, p, by, order[done:done+b], γ); err != nil {
			return err
		}
		m.path.Include(float64(b))
		done += b
	}
	if err := m.path.Finish(); err != nil {
		return err
	}
	return m.finish(ctx, p, s, r, m.path.W, m.path.Mean, τ)
}

// finish ends a pass at weights w, before thresholding, with the mean iterate mean.
func (m *SAGA) finish(ctx context.Context, p *train.Problem, s *train.State, r *rand.Rand, to, mean []float32, τ float32) error {
	by := m.smoothing(p)
	m.count(p, s, p.Len())
	if m.measures() {
		if err := m.probe(ctx, p, s, p.Soften(m.w, τ), p.Soften(to, τ), by, r); err != nil {
			return err
		}
		m.update(by.Mu)
	}
	m.w = append(m.w[:0], to...)
	u, err := p.RecomposeWatched(ctx, p.Soften(m.w, τ), m.memory) // the pass has replaced all of it
	if err != nil {
		return err
	}
	s.FullPasses++
	m.mean = u.Grad
	if err := m.certificate.RecordDual(ctx, p.Engine, u); err != nil {
		return err
	}
	w := p.Soften(mean, τ)
	pass, err := p.FullPass(ctx, w, by, nil)
	if err != nil {
		return err
	}
	if err := m.record(ctx, p, s, w, pass); err != nil {
		return err
	}
	m.μ *= m.fall
	if p.L1 > 0 {
		m.regulariser.Advance(p, w, pass.Primal, m.w)
	}
	return nil
}

// passAsync is Pass with threads that do not wait for each other.
func (m *SAGA) passAsync(ctx context.Context, p *train.Problem, s *train.State, r *rand.Rand, γ float64, size int, order []int) error {
	if m.alone == nil {
		m.alone = p.NewAsynchronous(size)
	}
	if λ := m.regulariser.Lambda; λ > 0 { // a weight of one example alone moves by at most what the regulariser pulls it
		γ = min(γ, float64(size)/(λ*float64(p.Len())))
		s.Step = γ
	}
	to, τ := slices.Clone(m.w), m.regulariser.Threshold(p)
	err := m.alone.Sweep(ctx, to, slices.Clone(m.mean), m.memory, slices.Collect(slices.Chunk(order, size)), engine.AsyncStep{
		Smoothing: m.smoothing(p), Gamma: γ, Lambda: m.regulariser.Lambda, Center: m.regulariser.Center, Threshold: τ,
	})
	if err != nil {
		return err
	}
	return m.finish(ctx, p, s, r, to, to, τ)
}

// checkAsync refuses problems on which threads that do not wait are of no use.
func (m *SAGA) checkAsync(p *train.Problem) error {
	switch {
	case !m.Async:
		return nil
	case p.Ranks().Size() > 1:
		return structured.BadInput("method saga: several processes take their steps in one order, and threads that wait for nobody (parallel async) have none")
	case p.OnDevice():
		return train.Refuse(m.Name(), train.HostPotentials, "has threads that wait for nobody on the CPU only")
	case !p.AttributesAlone():
		return train.Refuse(m.Name(), train.SparseScores, "has threads that wait for nobody only on the linear net of attributes, whose steps touch few weights")
	case p.Bounds != nil:
		return train.Refuse(m.Name(), train.NoBounds, "has threads that wait for nobody only without bounds of the weights")
	}
	return nil
}

// depart starts the path of a pass.
func (m *SAGA) depart(p *train.Problem, γ float64) {
	m.drift = append(m.drift[:0], m.mean...)
	vec.Scale(float32(-γ), m.drift)
	if c := m.regulariser.Center; c != nil {
		vec.Axpy(float32(γ*m.regulariser.Lambda), c, m.drift)
	}
	m.path.Threshold = m.regulariser.Threshold(p)
	m.path.Start(p.Engine, m.w, m.drift)
}

// move takes a step: the oracle's answers on a batch update the weights, the γḡ in the drift, and the memory.
func (m *SAGA) move(ctx context.Context, p *train.Problem, by oracles.Smoothing, batch []int, γ float64) error {
	st, err := p.StepAt(ctx, m.path.At(), batch, by, m.memory, 0)
	if err != nil {
		return err
	}
	c, β := 0.0, 0.0
	if st.Moved > 0 {
		c, β = -γ/float64(len(batch)), -γ/float64(p.Len())
		p.Remember(m.memory, 1)
	}
	m.path.Step(1-γ*m.regulariser.Lambda, 1, c, β, st.Grad)
	return nil
}

func (m *SAGA) scratch() **engine.Memory           { return &m.memory }
func (m *SAGA) FetchMemory(p *train.Problem) error { return p.Fetch(m.memory) }

// Archive saves or restores the method's state.
func (m *SAGA) Archive(a engine.Archive) {
	m.convex.archive(a)
	m.Pace.archive(a)
	a.Floats("iterate", &m.w)
	a.Floats("mean", &m.mean)
	engine.ArchiveMemory(a, &m.memory)
}
