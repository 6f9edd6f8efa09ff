package methods

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// ProxLinear is the inexact prox-linear method for networks (Pillutla et al. 2019, Algorithm 5; Drusvyatskiy and
// Paquette 2018). An outer iteration linearises the network at w_{k−1} and uses a convex method to find
//
//	ŵ_k ≈ argmin_w F_η(w; w_{k−1}) = (1/n) Σ c_i f_i(w; w_{k−1}) + (λ/2)‖w − c‖² + (1/2η)‖w − w_{k−1}‖²,
//
// where f_i(·; w_{k−1}) is f_i with potentials θ_i(w_{k−1}) + J_i(w − w_{k−1}). ŵ_k is accepted if F does not rise. If
// F rises, points closer and closer to w_{k−1} are tried, as in Burke (1985): the model is convex, so it decreases
// along the whole segment. η adapts to how well the model predicts F, like the radius of a trust region. F is evaluated
// without dropout. BatchProxLinear is the method with models of batches.
//
// With an affine scorer the model is exact and this is the proximal point method. With partial labels the model also
// replaces h_A by its tangent (engine/partial.go). That is the concave-convex procedure (Yuille and Rangarajan 2003)
// with a prox term, and each subproblem has a certificate.
//
// At random weights the model is poor, so by default two passes of SGD come first. Their step size also sets η.
//
// The default inner method for the hinge is BCFW. It needs no step size, and its memory, a dual point, warm-starts the
// next subproblem, so a single pass per subproblem used oracle calls best on all networks tried. For smooth losses the
// default is Casimir, whose measured curvature is passed on.
type ProxLinear struct {
	Passes      int                      // passes of the run, after which it stops; 0: it does not
	Inner       func(k int) train.Method // makes the method for the k-th subproblem, k ≥ 1; nil: the default above
	InnerPasses int                      // most passes per subproblem; 0: 1, or up to 5 until a pass finds a better point than w_{k−1}
	Tolerance   float64                  // ε_0: a subproblem is solved at a certified gap of ε_0/k; 0: at 0.3 of the promised decrease of F
	Eta         float64                  // η, held fixed; 0: found at the start and adapted
	WarmUp      int                      // initial passes of SGD, after which the model is better; 0: 2, or none if Eta is given; −1: none
	ConstantMu  bool                     // μ_k = μ, not μ/k, for a given μ; without one, μ is halved when it seems to hide better points

	sub       subproblem
	f         float64 // F(w_{k−1})
	η         float64
	rate      float64 // γ of the warm-up
	warmUp    int     // warm-up passes left
	smallest  float64 // give up at this η
	k         int
	μ         float64        // μ as given, or the current one if none was given; 0 without smoothing
	curvature float64        // as measured by the last inner method
	memory    *engine.Memory // of the last inner method
	scratch   *engine.Memory // scratch memory of the last inner method that refills it
}

const (
	defaultWarmUp   = 2
	mostInnerPasses = 5
	leastShare      = 0.05  // least share of the prox term in the promised decrease
	promised        = 0.3   // a subproblem's gap may be this share of the promised decrease
	backtracks      = 4     // points tried between w_{k−1} and ŵ_k
	smallestEta     = 1e-12 // the method gives up at this fraction of the first η
)

var _ train.MemoryKeeper = &ProxLinear{}

func (m *ProxLinear) Name() string { return "prox-linear" }

func (m *ProxLinear) Traits() train.Traits { return train.Traits{L1: true} }

// Start evaluates F at s.W and chooses η there: n/|B| times the step size that suits SGD, so that a prox-linear step
// goes about as far as a pass of SGD.
func (m *ProxLinear) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := train.CheckNotQuadratic(m.Name(), p.Objective); err != nil {
		return err
	}
	if p.L1 > 0 {
		return refuseL1(m.Name(), "on models of all examples; its models must be of batches (model-batch, as by default)")
	}
	if err := m.sub.begin(p); err != nil {
		return err
	}
	if m.started() { // restored
		if m.memory != nil {
			var err error
			if m.memory, err = m.sub.Attach(m.memory); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	if m.f, _, err = p.Upper(ctx, s.W); err != nil {
		return err
	}
	s.FullPasses++
	if m.warmUp = max(0, m.WarmUp); m.WarmUp == 0 && m.Eta == 0 {
		m.warmUp = defaultWarmUp
	}
	if m.warmUp > 0 || m.Eta == 0 {
		var calls int
		if m.rate, calls, err = searchRate(ctx, p, s.W); err != nil {
			return err
		}
		s.OracleCalls += calls
	}
	m.η = cmp.Or(m.Eta, m.rate*float64(p.Len())/float64(p.BatchSize()))
	m.smallest = smallestEta * m.η
	if p.Smoothing.Kind != oracles.None {
		var first annealing
		first.begin(p, m.f)
		m.μ = first.μ
	}
	return nil
}

// refuseL1 refuses λ₁‖w‖₁ where the method has no rule for it.
func refuseL1(method, where string) error {
	return train.Refuse(method, train.NoL1, "has no step for the ℓ1 regulariser %s", where)
}

// started reports whether Start was called, in this run or in the one that it goes on with.
func (m *ProxLinear) started() bool { return m.η > 0 }

// begin runs a pass of SGD from s. If F rises, it undoes the pass and halves the step size for the next one.
func (m *ProxLinear) begin(ctx context.Context, p *train.Problem, s *train.State) error {
	from := append([]float32(nil), s.W...)
	sgd := &SGD{Rate: m.rate, Averaging: PassAverage}
	err := sgd.Start(ctx, p, s)
	if err == nil {
		err = train.Pass(ctx, sgd, p, s)
	}
	if err != nil {
		if s.Primal, err = diverged(err); err != nil {
			return err
		}
		s.Passes++
	}
	if !(s.Primal <= m.f) {
		copy(s.W, from)
		s.Primal = m.f
		m.rate /= 2
		if m.Eta == 0 {
			m.η /= 2
		}
		if m.η > m.smallest {
			m.warmUp++
		}
	}
	m.f = s.Primal
	s.ProxGradient, s.InnerGap = math.NaN(), math.NaN()
	return nil
}

// Pass runs one outer iteration, at the beginning a pass of SGD.
func (m *ProxLinear) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	if m.warmUp > 0 {
		m.warmUp--
		return m.begin(ctx, p, s)
	}
	m.k++
	if err := m.sub.pose(ctx, s.W, m.η, m.smoothing(p), uint64(s.Passes)); err != nil {
		return err
	}
	to, err := m.solve(ctx, s)
	if err != nil {
		return err
	}
	from := append([]float32(nil), s.W...)
	way := m.sub.distance(to.W)
	promise := m.f - m.sub.model(to)
	s.Step, s.Mu, s.Kappa, s.Exact, s.InnerGap = m.η, to.Mu, to.Kappa, to.Exact, to.EstimatedGap()
	if promise > 0 { // otherwise ŵ_k is w_{k−1} for lack of a better point, which says nothing about the prox gradient
		s.ProxGradient = math.Sqrt(way) / m.η
	}

	t, f, err := m.search(ctx, p, s, to.W, promise)
	if err != nil {
		copy(s.W, from)
		return err
	}
	if t == 0 {
		s.Rejected++
	}
	if p.Smoothing.Mu == 0 && (t == 0 || m.InnerPasses == 0 && to.Passes > 1) {
		m.μ /= 2
	}
	m.adapt(t, promise, m.f-f, way)
	m.f = f
	s.Done = m.η < m.smallest
	s.Primal = f
	return nil
}

// search sets s.W to the first of the points ŵ, (w+ŵ)/2, … at which F is no larger than at w = s.W. It returns the
// fraction t of the way and the value of F there. t = 0 means that w stays, for instance because the subproblem
// promised no decrease.
func (m *ProxLinear) search(ctx context.Context, p *train.Problem, s *train.State, to []float32,
	promise float64) (t, f float64, err error) {
	from := append([]float32(nil), s.W...)
	t = 1
	for range backtracks + 1 {
		if promise <= 0 {
			break
		}
		copy(s.W, to)
		if t < 1 {
			vec.Axpby(float32(1-t), from, float32(t), s.W)
		}
		if f, _, err = p.Upper(ctx, s.W); err != nil {
			if f, err = diverged(err); err != nil {
				return 0, 0, err
			}
		}
		s.FullPasses++
		if f <= m.f {
			return t, f, nil
		}
		t /= 2
	}
	copy(s.W, from)
	return 0, m.f, nil
}

// adapt changes η after a step that went the fraction t of the way to ŵ. The model promised a fall of F by t·promise,
// and F fell by decrease. adapt also keeps the prox term of ŵ, way/2η, a fair share of the promise. At the exact
// solution it would be between half and all of it; a smaller share means that the budget was too short for such an
// ill-conditioned problem.
func (m *ProxLinear) adapt(t, promise, decrease, way float64) {
	share := way / (2 * m.η) / promise
	switch {
	case m.Eta > 0:
	case t == 0:
		m.η /= 4
	case t < 1:
		m.η *= t
	case decrease < 0.25*promise || share < leastShare:
		m.η /= 2
	case decrease > 0.75*promise && share > 4*leastShare:
		m.η *= 2
	}
}

// smoothing returns the smoothing of the k-th subproblem.
func (m *ProxLinear) smoothing(p *train.Problem) oracles.Smoothing {
	s := p.Smoothing
	s.Mu = m.μ
	if p.Smoothing.Mu > 0 && !m.ConstantMu {
		s.Mu /= float64(m.k)
	}
	return s
}

// wants reports whether the subproblem needs another pass. better tells whether the passes so far improved on w_{k−1}.
func (m *ProxLinear) wants(passes int, better bool) bool {
	if m.InnerPasses > 0 {
		return passes < m.InnerPasses
	}
	return passes < 1 || !better && passes < mostInnerPasses
}

// solve runs the inner method from w_{k−1} = s.W and returns its best iterate with what is known about it. The weights
// are w_{k−1} if it found no better point.
func (m *ProxLinear) solve(ctx context.Context, s *train.State) (*train.State, error) {
	inner := m.inner()
	at := train.NewState(append([]float32(nil), s.W...))
	if err := inner.Start(ctx, m.sub.Problem, at); err != nil {
		return nil, err
	}
	best := *at
	best.W, best.Primal = append([]float32(nil), s.W...), m.f
	for m.wants(at.Passes, best.Primal < m.f) && !at.Done && (m.Passes == 0 || s.Passes+at.Passes < m.Passes) {
		if err := train.Pass(ctx, inner, m.sub.Problem, at); err != nil {
			return nil, err
		}
		if err := at.Check(inner.Name()); err != nil {
			return nil, fmt.Errorf("subproblem %d: %w", m.k, err)
		}
		w := best.W
		if at.Primal < best.Primal {
			best = *at
			copy(w, at.W)
		}
		best.W, best.Dual, best.Estimate = w, at.Dual, at.Estimate
		enough := m.Tolerance / float64(m.k)
		if m.Tolerance == 0 {
			enough = promised * (m.f - m.sub.model(&best))
		}
		if best.EstimatedGap() <= enough {
			break
		}
	}
	m.keep(inner)
	best.Passes = at.Passes
	s.Passes += at.Passes
	s.OracleCalls += at.OracleCalls
	s.FullPasses += at.FullPasses
	return &best, nil
}

// inner makes the method for the k-th subproblem and hands it what the last inner method learned.
func (m *ProxLinear) inner() (inner train.Method) {
	switch {
	case m.Inner != nil:
		inner = m.Inner(m.k)
	case m.sub.Loss == engine.Hinge:
		inner = &BCFW{}
	default:
		inner = &Casimir{}
	}
	switch inner := inner.(type) {
	case *BCFW:
		if m.memory != nil {
			inner.memory = m.memory
		}
	case paced:
		inner.knownCurvature(m.curvature)
		*inner.scratch() = m.scratch
	}
	return inner
}

// keep saves what the next inner method can reuse.
func (m *ProxLinear) keep(inner train.Method) {
	switch inner := inner.(type) {
	case *BCFW:
		m.memory = inner.memory
	case paced:
		m.curvature = inner.MeasuredCurvature()
		m.scratch = *inner.scratch()
	}
}

func (m *ProxLinear) FetchMemory(*train.Problem) error {
	if m.memory == nil {
		return nil
	}
	return m.sub.Fetch(m.memory)
}

// Archive saves or restores the method's state.
func (m *ProxLinear) Archive(a engine.Archive) {
	a.Number("objective", &m.f)
	a.Number("eta", &m.η)
	a.Number("rate", &m.rate)
	a.Count("warm_up", &m.warmUp)
	a.Number("smallest", &m.smallest)
	a.Count("outer", &m.k)
	a.Number("mu", &m.μ)
	a.Number("curvature", &m.curvature)
	a.Refuse(finite(m.curvature), "curvature")
	engine.ArchiveMemory(a, &m.memory)
}
