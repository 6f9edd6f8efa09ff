package methods

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/proximal"
)

// BCFW is block-coordinate Frank-Wolfe on the dual of the hinge objective (Lacoste-Julien, Jaggi, Schmidt and Pletscher
// 2013, Algorithms 2 and 4), in potential space. It needs no step size and no smoothing.
//
// The dual variables of example i are a convex combination ū_i of the oracle's answers so far. w always equals
//
//	w = c − (1/λn) Σ c_i J_iᵀ(ū_i − 1_{y_i}).
//
// A step on a batch B asks the max oracle for u_i, i ∈ B, and moves all blocks of the batch towards these corners,
// ū_i ← ū_i + γ(u_i − ū_i), by the γ that raises the dual most:
//
//	D = Σ_B c_i J_iᵀ(u_i − ū_i),     w_s − w = −D/(λn),
//	g = (1/n) Σ_B c_i ⟨u_i − ū_i, θ_i + ℓ_i⟩ ≥ 0,
//	γ = clip(g / (λ‖w_s − w‖²), 0, 1),
//
// which raises the dual by γg − ½γ²λ‖w_s − w‖². The block gaps g of all examples add up to the duality gap. With a
// batch of n this is batch Frank-Wolfe. With the centre and λ of a prox-linear subproblem the same code solves the
// subproblem.
//
// BCFW reports the average of the iterates (Averaging), which is dual feasible too: averaging the linear part b of the
// dual along with w gives the dual value D(ū) = b + (λ/2)(‖c‖² − ‖w‖²). Such values, and values summed from the gains
// of steps, are estimates. The certified bound is the dual of the memory, recomputed by a pullback at every Resync and
// in Certify.
//
// With λ₁ > 0, the path holds v = c − g/λ and the oracle sees its soft thresholds (engine/elasticnet.go). The dual
// along a step is then no quadratic, and its maximum is found by a search over the step's entries
// (engine/softsearch.go). Where package proximal adds a term, the average is that of the last pass. With bounds of the
// weights it cuts these off, too (engine/bounds.go).
type BCFW struct {
	Averaging Averaging // AutoAverage is WeightedAverage
	Resync    int       // passes between recompositions of w from the memory, to remove rounding errors; 0 means 10
	Warm      bool      // start from s.W (see warm), not from the centre
	Divide    bool      // each of several ranks visits examples of its own (blocks.go); else all do the same

	held        leastPrimal          // of a warm start
	regulariser proximal.Regulariser // that the steps see

	memory  *engine.Memory // a prox-linear method may provide one to continue from
	path    engine.AffinePath
	linear  float64 // b of the memory
	average float64 // b of the mean of the iterates
	dual    float64 // D(ū)
	best    float64 // largest dual value seen
	bound   train.LowerBound
	passes  int
	lazy    bool // F may be left to Complete

	λ      float64       // that steps see, less than λ' where several ranks pull at w
	rounds engine.Rounds // of several ranks
	kept   []float32     // the dual point before a round
}

var (
	_ train.Certifier    = &BCFW{}
	_ train.MemoryKeeper = &BCFW{}
)

func (m *BCFW) Name() string { return "bcfw" }

func (m *BCFW) Traits() train.Traits { return train.Traits{Convex: true, L1: true, Bounds: true} }

// Start begins at ū_i = 1_{y_i}, where w is the centre, regardless of s.W unless Warm.
func (m *BCFW) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := checkHingeDual(m.Name(), p); err != nil {
		return err
	}
	if err := train.CheckThresholds(m.Name(), p.Engine); err != nil {
		return err
	}
	if len(m.path.W) > 0 { // restored
		m.λ, m.path.Threshold = m.regulariser.Lambda, m.regulariser.Threshold(p)
		m.path.Resume(p.Engine, nil)
		var err error
		m.memory, err = p.Attach(m.memory)
		return err
	}
	m.regulariser.Begin(p)
	m.λ, m.path.Threshold = m.regulariser.Lambda, m.regulariser.Threshold(p)
	w := make([]float32, len(s.W))
	copy(w, m.regulariser.Center)
	m.path.Start(p.Engine, w, nil)
	m.dual, m.bound = p.Constant, train.LowerBound{Value: p.Floor()}
	var err error
	switch {
	case m.memory != nil:
		err = m.goOn(ctx, p, s)
	default:
		if m.memory, err = p.NewMemory(); err == nil && m.Warm {
			err = m.warm(ctx, p, s)
		}
	}
	m.best = m.dual
	return err
}

// checkHingeDual returns an error that says why the problem has no dual of the hinge over all w, or nil if it has one.
func checkHingeDual(method string, p *train.Problem) error {
	if err := checkHinge(method, p); err != nil {
		return err
	}
	return train.CheckRegulariser(method, p.Objective)
}

// checkHinge returns an error that says why the problem is not convex, or has another loss than the hinge, or nil.
func checkHinge(method string, p *train.Problem) error {
	if p.Loss != engine.Hinge {
		return train.Refuse(method, train.HingeLoss, "needs the hinge, not loss %v", p.Loss)
	}
	if err := train.CheckConvex(method, p.Scorer); err != nil {
		return err
	}
	if err := train.CheckLabels(method, p.Objective); err != nil {
		return err
	}
	return nil
}

// goOn starts from the dual point of a given memory, which may come from another scorer, centre or λ. It moves to the
// best point between ū_i = 1_{y_i} and that, in one step from 1_{y_i} with all blocks at once.
func (m *BCFW) goOn(ctx context.Context, p *train.Problem, s *train.State) error {
	u, err := p.Recompose(ctx, m.path.W, m.memory)
	if err != nil {
		return err
	}
	s.FullPasses++
	g, b := u.Grad, u.Linear
	γ, gain := lineSearch(b+vec.Dot64(g, m.path.W), vec.Norm2(g)/p.Lambda)
	vec.Axpy(float32(-γ/p.Lambda), g, m.path.W)
	vec.Scale(float32(γ), g)
	m.bound.Record(p, engine.Recomposed{Grad: g, Linear: γ * b, Central: γ * u.Central, Rounded: u.Rounded},
		train.Entropy{}, m.passes)
	m.linear = γ * b
	m.dual += gain
	p.ToGold(m.memory, float32(γ))
	return nil
}

// warm begins at the best dual point between the gold outputs and the oracle's answers at s.W = w₀. Its weights differ
// from w₀, so the state shows w₀ until a pass finds better weights.
func (m *BCFW) warm(ctx context.Context, p *train.Problem, s *train.State) error {
	p.Clip(s.W)
	pass, err := p.FullPass(ctx, s.W, oracles.Smoothing{}, m.memory)
	if err != nil {
		return err
	}
	s.FullPasses++
	m.held = leastPrimal{append([]float32(nil), s.W...), pass.Upper}
	return m.goOn(ctx, p, s)
}

// leastPrimal keeps the weights with the least F that a method has shown.
type leastPrimal struct {
	w     []float32
	value float64
}

// keep makes s show the best weights so far.
func (l *leastPrimal) keep(s *train.State) {
	if s.Primal < l.value {
		l.value = s.Primal
		copy(l.w, s.W)
		return
	}
	copy(s.W, l.w)
	s.Primal = l.value
}

func (l *leastPrimal) archive(a engine.Archive) {
	a.Floats("held", &l.w)
	a.Number("held.primal", &l.value)
}

// Pass visits every example once, in random order.
func (m *BCFW) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	rounds, own := m.blocks(p)
	order, size := p.Rand(s.Passes).Perm(len(own)), p.BatchSize()
	for k := range order {
		order[k] = own[order[k]]
	}
	averaging := m.Averaging
	if averaging == AutoAverage {
		averaging = WeightedAverage
	}
	if averaging != NoAverage && m.regulariser.Kappa > 0 { // whose term moves between passes
		averaging = PassAverage
	}
	if averaging == PassAverage {
		m.path.ResetMean()
	}
	var err error
	if device, ok := p.DualAscender(); ok {
		err = m.sweepOnDevice(ctx, p, device, order, size, averaging)
	} else if rounds == 1 {
		m.λ = m.regulariser.Lambda
		err = m.sweep(ctx, p, order, size, averaging)
	} else {
		err = m.sweepBlock(ctx, p, rounds, order, size, averaging)
	}
	if err != nil {
		return err
	}
	m.passes++
	s.Passes++
	s.OracleCalls += p.Len()
	every := m.Resync
	if every == 0 {
		every = 10
	}
	if m.passes%every == 0 {
		if err := m.resync(ctx, p, s); err != nil {
			return err
		}
	}
	return m.report(ctx, p, s)
}

// sweep takes steps on all examples in the given order.
func (m *BCFW) sweep(ctx context.Context, p *train.Problem, order []int, size int, averaging Averaging) error {
	for lo := 0; lo < len(order); lo += size {
		if err := m.step(ctx, p, order[lo:min(lo+size, len(order))]); err != nil {
			return err
		}
		m.include(averaging)
	}
	return m.path.Finish()
}

// include adds the iterate to the mean.
func (m *BCFW) include(averaging Averaging) {
	if averaging != NoAverage {
		share := m.path.Include(averaging.weight(m.path.Count))
		m.average += share * (m.linear - m.average)
	}
}

// sweepOnDevice is sweep on a device, which does the line search and the bookkeeping without making the host wait.
func (m *BCFW) sweepOnDevice(ctx context.Context, p *train.Problem, device engine.DualAscender, order []int, size int,
	averaging Averaging) error {
	device.SetBooks(engine.DualBooks{Linear: m.linear, Average: m.average, Value: m.dual})
	for lo := 0; lo < len(order); lo += size {
		if _, err := p.StepAt(ctx, m.path.At(), order[lo:min(lo+size, len(order))], oracles.Smoothing{}, m.memory,
			0); err != nil {
			return err
		}
		share := 0.0
		if averaging != NoAverage {
			share = m.path.Weigh(averaging.weight(m.path.Count))
		}
		device.Ascend(m.memory.Device(), p.Lambda, share)
	}
	if err := m.path.Finish(); err != nil {
		return err
	}
	books, err := device.Books()
	m.linear, m.average, m.dual = books.Linear, books.Average, books.Value
	return err
}

// step is one block step. It updates the dual by the exact gain, and b by the step's change: the blocks' linear lower
// bound on the loss, a function of w, changes by (γ/n)(Σ c_i⟨u_i − ū_i, θ_i + ℓ_i⟩ − ⟨D, w⟩) at the origin.
func (m *BCFW) step(ctx context.Context, p *train.Problem, batch []int) error {
	st, err := p.StepAt(ctx, m.path.At(), batch, oracles.Smoothing{}, m.memory, 0)
	if err != nil {
		return err
	}
	if err := st.Fetch(); err != nil {
		return err
	}
	n := float64(p.Len())
	gap := st.Linear / n
	if st.Moved == 0 || gap <= 0 {
		return nil
	}
	γ, gain := 0.0, 0.0
	if λ := m.λ; !p.Plain() {
		γ, gain = p.SoftSearch(st.Grad, m.path.W, m.path.Threshold, λ, 1/(λ*n), gap, 1)
		γ = float64(float32(γ))
	} else {
		γ, gain = lineSearch(gap, st.Grad.Norm2()/(λ*n*n))
	}
	if γ == 0 {
		return nil
	}
	m.linear += γ / n * (st.Linear - st.Product())
	m.dual += gain
	m.path.Step(1, 0, -γ/(m.λ*n), 0, st.Grad)
	p.Remember(m.memory, float32(γ))
	return nil
}

// lineSearch returns the γ in [0, 1] that raises the dual most in a step of block gap g and norm λ‖w_s − w‖², and that
// gain. γ is a float32, like the memory.
func lineSearch(gap, norm float64) (γ, gain float64) {
	if gap > 0 && norm > 0 {
		γ = float64(float32(min(gap/norm, 1)))
		gain = γ*gap - γ*γ/2*norm
	}
	return γ, gain
}

// resync recomputes w, b and the dual from the memory.
func (m *BCFW) resync(ctx context.Context, p *train.Problem, s *train.State) error {
	u, err := m.recompose(ctx, p, s)
	if err != nil {
		return err
	}
	m.regulariser.Point(u.Grad, m.path.W)
	m.linear = u.Linear
	m.dual = dualValue(p, &m.regulariser, u.Linear, m.path.W)
	return nil
}

// recompose pulls back the memory and records its bound.
func (m *BCFW) recompose(ctx context.Context, p *train.Problem, s *train.State) (engine.Recomposed, error) {
	return m.bound.Recompose(ctx, p, s, p.Soften(m.path.W, m.path.Threshold), m.memory, train.Entropy{}, m.passes)
}

func (m *BCFW) Certify(ctx context.Context, p *train.Problem, s *train.State, keep bool) error {
	return m.bound.Certify(s, m.passes, m.best, keep, func() error {
		_, err := m.recompose(ctx, p, s)
		return err
	})
}

// Defer implements train.Deferrer. With a proximal term, and where better weights are held, every pass needs F.
func (m *BCFW) Defer(on bool) { m.lazy = on }

// report shows the average, the bound, and the best dual value so far, of the average or an iterate; and F, unless that
// is deferred.
func (m *BCFW) report(ctx context.Context, p *train.Problem, s *train.State) error {
	if !p.Plain() {
		m.dual = dualValue(p, &m.regulariser, m.linear, m.path.W)
	}
	m.best = max(m.best, m.dual)
	w := m.path.W
	if m.Averaging != NoAverage {
		w = m.path.Mean
		m.best = max(m.best, dualValue(p, &m.regulariser, m.average, w))
	}
	copy(s.W, p.Soften(w, m.path.Threshold))
	m.bound.Show(s, m.best)
	s.Kappa = m.regulariser.Kappa
	if s.Deferred = m.lazy && m.regulariser.Kappa == 0 && !m.Warm; !s.Deferred {
		return m.Complete(ctx, p, s, true)
	}
	s.Primal = math.NaN()
	return nil
}

// Complete implements train.Deferrer.
func (m *BCFW) Complete(ctx context.Context, p *train.Problem, s *train.State, keep bool) (err error) {
	s.Deferred = false
	if s.Primal, _, err = p.Upper(ctx, s.W); err != nil {
		return err
	}
	if !keep {
		return nil
	}
	s.FullPasses++
	if m.Warm {
		m.held.keep(s)
	}
	m.regulariser.Advance(p, s.W, s.Primal, m.path.W)
	m.path.Threshold = m.regulariser.Threshold(p)
	return nil
}

// dualValue returns the dual value of the point with linear part b whose v = c' − g/λ' is known.
func dualValue(p *train.Problem, r *proximal.Regulariser, b float64, v []float32) float64 {
	if p.Plain() {
		return p.DualValue(b, v)
	}
	d, _ := p.ElasticBound(b, r.Gradient(v))
	return d
}

func (m *BCFW) FetchMemory(p *train.Problem) error { return p.Fetch(m.memory) }

// Archive saves or restores the method's state.
func (m *BCFW) Archive(a engine.Archive) {
	engine.ArchiveMemory(a, &m.memory)
	m.path.Archive(a)
	m.regulariser.Archive(a)
	a.Number("linear", &m.linear)
	a.Number("mean.linear", &m.average)
	a.Number("dual", &m.dual)
	a.Number("best", &m.best)
	m.bound.Archive(a)
	a.Count("passes", &m.passes)
	if m.Divide {
		m.rounds.Archive(a)
	}
	if m.Warm {
		m.held.archive(a)
	}
}
