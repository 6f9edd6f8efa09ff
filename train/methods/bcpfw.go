package methods

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/proximal"
)

// BCPFW is block-coordinate Frank-Wolfe on the dual of the hinge objective with pairwise steps, cached answers and gap
// sampling (Osokin, Alayrac, Lukasewitz, Dokania and Lacoste-Julien 2016), in potential space. It needs no step size
// and no smoothing.
//
// The dual point of example i is stored as the outputs that it mixes, ū_i = Σ_k α_k 1_{y_k}, with w as in BCFW. A visit
// asks the max oracle for one more output. It then moves weight from the output with the least θ_i + ℓ_i to the one
// with the most, by the γ that raises the dual most:
//
//	D = c_i J_iᵀ(1_{y⁺} − 1_{y⁻}),    g = c_i ⟨1_{y⁺} − 1_{y⁻}, θ_i + ℓ_i⟩,
//	γ = clip(λn·g/‖D‖², 0, α⁻),       w ← w − (γ/λn)D,
//
// which raises the dual by (γg − ½γ²‖D‖²/λn)/n. Such a step pulls back only where the two outputs differ. It removes
// bad outputs, which a step towards an active output can only outweigh: the dual converges linearly where that of BCFW
// slows down. Since θ_i gives the scores of all stored outputs, a visit takes a few more steps between them. Each
// rescores the example but does not call the oracle.
//
// The block gap ⟨u_i − ū_i, θ_i + ℓ_i⟩ of an example, with u_i the oracle's answer, bounds the dual's gain from that
// example. The gaps of all examples add up to the duality gap. The paper samples examples in proportion to their gaps.
// Here a round visits the examples whose gap was at least the mean at their last visit, and any example after mostAge
// rounds without a visit. That converges as well or better on most problems tried and has no parameter. With Draw
// examples are drawn as in the paper (gapsampling.go).
//
// With CacheLocal F or CacheGlobal ν above 0 the outputs that an example has kept, its cache, answer in place of the
// oracle where the best of them, y, promises enough (section 3.3 of the paper; block gaps here are not divided by n):
//
//	c_i ⟨1_y − ū_i, θ_i + ℓ_i⟩ ≥ max(F g_i, ν ḡ),
//
// where g_i is the example's block gap when the oracle was last asked about it, and ḡ the mean of these over all
// examples when the pass began. In every tenth pass (everyGap) all examples are visited, and the oracle is asked each
// time: no g_i is older. Then a few outputs without a share are kept, too.
//
// With Away a step moves towards the best output, or away from the worst, whichever promises more at first order (the
// paper's BCAFW):
//
//	D = c_i J_iᵀ(1_{y⁺} − ū_i),  γ ≤ 1;    D = c_i J_iᵀ(ū_i − 1_{y⁻}),  γ ≤ α⁻/(1 − α⁻).
//
// The state shows the iterate with the least F after a pass, or the mean of the pass's iterates. The dual is certified
// when it is recomposed from the outputs, at every Resync and in Certify. In between, the gains of steps estimate it.
// With λ₁ > 0 the path holds weights before thresholding, as in BCFW.
type BCPFW struct {
	Draw bool // examples in proportion to their gaps
	Away bool // steps away from outputs, and towards them, instead of pairwise steps

	CacheLocal, CacheGlobal float64 // F and ν; if both are 0 every visit asks the oracle

	Inner  int  // most steps per visit; 0 means 10
	Resync int  // passes between recompositions of w from the memory, to remove rounding errors; 0 means 10
	Warm   bool // start from s.W (see warm), not from the centre

	λ      float64          // that steps see, less than λ' where several ranks pull at w
	rounds engine.Rounds    // of several ranks, each of which visits examples of its own (blocks.go)
	kept   [][]activeOutput // those of own examples before a round

	active      activeOutputs
	gap         []float32 // [n] when the oracle was last asked
	meanGap     float64   // ḡ
	age         []float32 // [n] rounds since the last visit
	path        engine.AffinePath
	regulariser proximal.Regulariser // that the steps see
	linear      float64              // b of the active outputs
	dual        float64              // D(ū)
	best        float64              // largest dual value seen
	bound       train.LowerBound
	primal      float64   // the least F seen; that of s.W unless the pass deferred it
	held        []float32 // the weights of the least F seen, since a pass deferred it
	lazy        bool      // F may be left to Complete
	passes      int

	example [1]int // the example being visited, and
	fresh   bool   // whether the visit begins, so that the oracle may be asked
	asked   bool   // whether it was
	calls   int    // how often it was in this pass
	pair    pair
	choose  func(ln *engine.Lane) error // m.choosePair
}

// pair is the two outputs between which a step moves weight; with Away, one of them is ū.
type pair struct {
	from, to int     // the place of an output, or mixture
	most     float64 // the largest γ
	gap      float64 // c_i⟨1_{y⁺} − ū_i, θ_i + ℓ_i⟩
}

// mixture stands for ū_i among the outputs of example i.
const mixture = -1

const (
	pairwiseSteps = 10
	enoughOfGap   = 0.2 // a visit ends once the gain falls below this share of its first step's
	mostAge       = 10  // most rounds that an example with a small gap may miss
	cachedOutputs = 20  // most outputs of an example that are kept where some have no share
)

var _ train.Certifier = &BCPFW{}

func (m *BCPFW) Name() string { return "bcpfw" }

func (m *BCPFW) Traits() train.Traits {
	return train.Traits{Convex: true, L1: true, Bounds: true, Lanes: true}
}

// Start begins at ū_i = 1_{y_i}, where w is the centre, regardless of s.W unless Warm.
func (m *BCPFW) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := checkHingeDual(m.Name(), p); err != nil {
		return err
	}
	if err := train.CheckGold(m.Name(), p.Objective); err != nil {
		return err
	}
	if err := train.CheckEngine(m, p.Engine); err != nil {
		return err
	}
	m.choose = func(ln *engine.Lane) error { return m.choosePair(p, ln) }
	if len(m.active) > 0 { // restored
		m.λ, m.path.Threshold = m.regulariser.Lambda, m.regulariser.Threshold(p)
		m.path.Resume(p.Engine, nil)
		return m.active.fit(p)
	}
	m.regulariser.Begin(p)
	m.λ, m.path.Threshold = m.regulariser.Lambda, m.regulariser.Threshold(p)
	w := make([]float32, len(s.W))
	copy(w, m.regulariser.Center)
	m.path.Start(p.Engine, w, nil)
	m.active = newActiveOutputs(p.Data)
	m.gap, m.age = make([]float32, p.Len()), make([]float32, p.Len())
	m.dual, m.best, m.primal = p.Constant, p.Constant, math.Inf(1)
	m.bound = train.LowerBound{Value: p.Floor()}
	if m.Warm {
		return m.warm(ctx, p, s)
	}
	return nil
}

// warm begins at the dual point of the oracle's answers at s.W = w₀, with that point's own weights. Unless w₀ is
// optimal these differ from w₀, so the state shows w₀ until a pass finds better weights.
func (m *BCPFW) warm(ctx context.Context, p *train.Problem, s *train.State) error {
	var err error
	p.Clip(s.W)
	if m.primal, _, err = p.Upper(ctx, s.W); err != nil {
		return err
	}
	s.FullPasses++
	at := engine.At(s.W)
	for _, i := range p.Own() {
		m.example[0] = i
		answer := func(ln *engine.Lane) error {
			if err := p.Potentials(ln, at); err != nil {
				return err
			}
			m.ask(ln, i)
			return nil
		}
		if _, err := p.OverBatch(ctx, at, m.example[:], false, answer); err != nil {
			return err
		}
		m.active.move(i, 0, len(m.active[i])-1, 1)
		m.active.prune(i)
	}
	s.OracleCalls += p.Len()
	return m.resync(ctx, p, s)
}

// Pass makes n visits; the first pass visits every example.
func (m *BCPFW) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	m.path.ResetMean()
	m.meanGap, m.calls = vec.Sum(m.gap)/float64(len(m.gap)), 0
	own := p.Own()
	order := m.sweep
	if m.Draw {
		order = m.drawn
	}
	next := order(own, p.Rand(s.Passes))
	if rounds := m.rounds.PerPass(p.Engine); rounds > 1 {
		if err := m.sweepBlock(ctx, p, rounds, len(own), next); err != nil {
			return err
		}
	} else if err := m.visitAll(ctx, p, next); err != nil {
		return err
	}
	calls, err := m.allCalls(ctx, p)
	if err != nil {
		return err
	}
	m.passes++
	s.Passes++
	s.OracleCalls += calls
	if m.passes%cmp.Or(m.Resync, 10) == 0 {
		if err := m.resync(ctx, p, s); err != nil {
			return err
		}
	}
	return m.report(ctx, p, s)
}

// visitAll makes the visits of a pass.
func (m *BCPFW) visitAll(ctx context.Context, p *train.Problem, next func() int) error {
	m.λ = m.regulariser.Lambda
	for range p.Len() {
		if err := m.visit(ctx, p, next()); err != nil {
			return err
		}
		m.path.Include(1)
	}
	return m.path.Finish()
}

// sweep returns a function that returns the example to visit next, among own ones, sweep after sweep.
func (m *BCPFW) sweep(own []int, r *rand.Rand) func() int {
	var order []int
	return func() int {
		for len(order) == 0 {
			order = m.due(own)
			r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		i := order[0]
		order = order[1:]
		return i
	}
}

// due returns those of own examples that a sweep visits. With a cache the sweep of every tenth pass visits all, so that
// the oracle is asked about each.
func (m *BCPFW) due(own []int) []int {
	mean := float32(vec.Sum(m.gap) / float64(len(m.gap)))
	all := m.caches() && m.passes%everyGap == 0
	var order []int
	for _, i := range own {
		m.age[i]++
		if all || m.gap[i] >= mean || m.age[i] > mostAge {
			order = append(order, i)
		}
	}
	return order
}

// visit takes steps on example i.
func (m *BCPFW) visit(ctx context.Context, p *train.Problem, i int) error {
	m.example[0] = i
	λn, enough := m.λ*float64(p.Len()), 0.0
	for k := range cmp.Or(m.Inner, pairwiseSteps) {
		m.fresh = k == 0
		st, err := p.OverBatch(ctx, m.path.At(), m.example[:], false, m.choose)
		if err != nil {
			return err
		}
		if m.fresh {
			m.age[i] = 0
		}
		if m.fresh && m.asked {
			m.gap[i] = float32(m.pair.gap)
			m.calls++
		}
		if st.Moved == 0 || st.Linear <= enough {
			break
		}
		enough = max(enough, enoughOfGap*st.Linear)
		γ, gain := m.pair.most, 0.0
		if τ := m.path.Threshold; !p.Plain() {
			γ, gain = p.SoftSearch(st.Grad, m.path.W, τ, m.λ, 1/λn, st.Linear/float64(p.Len()), γ)
		} else {
			norm := st.Grad.Norm2()
			if γ*norm > λn*st.Linear {
				γ = λn * st.Linear / norm
			}
			gain = γ * (st.Linear - γ/2*norm/λn) / float64(p.Len())
		}
		m.dual += gain
		m.linear += γ * (st.Linear - st.Product()) / float64(p.Len())
		m.path.Step(1, 0, -γ/λn, 0, st.Grad)
		m.active.shift(i, m.pair, γ)
	}
	if m.caches() {
		m.active.trim(i, cachedOutputs)
	} else {
		m.active.prune(i)
	}
	return nil
}

// caches reports whether kept outputs may answer in place of the oracle.
func (m *BCPFW) caches() bool { return m.CacheLocal > 0 || m.CacheGlobal > 0 }

// hits reports whether the outputs that are kept of the lane's example i answer in place of the oracle.
func (m *BCPFW) hits(ln *engine.Lane, i int) bool {
	if !m.caches() || m.passes%everyGap == 0 {
		return false
	}
	_, _, high, _, mean := m.active.extremes(i, &ln.Theta, 0)
	promise := ln.Batch.Data.Weight(i) * (high - mean)
	return promise > 0 && promise >= max(m.CacheLocal*float64(m.gap[i]), m.CacheGlobal*m.meanGap)
}

// choosePair scores the lane's example, asks the oracle if due, chooses a pair of outputs and sets the lane's v to
// their difference.
func (m *BCPFW) choosePair(p *train.Problem, ln *engine.Lane) error {
	if err := p.Potentials(ln, m.path.At()); err != nil {
		return err
	}
	i := ln.Batch.Examples[0]
	c := p.Data.Weight(i)
	if m.asked = m.fresh && !m.hits(ln, i); m.asked {
		m.ask(ln, i)
	}
	to, from, high, low, mean := m.active.extremes(i, &ln.Theta, 0)
	m.pair = pair{from: from, to: to, most: m.active[i][from].α, gap: max(0, c*(high-mean))}
	if m.Away {
		m.towardsOrAway(i, high-mean, mean-low)
	}
	switch mixture {
	case m.pair.from:
		low = mean
	case m.pair.to:
		high = mean
	}
	if high-low <= 8*engine.Unit*math.Abs(high) { // equal up to rounding
		return nil
	}
	ln.V.Like(&ln.Theta)
	ln.V.Clear()
	m.active.add(&ln.V, i, m.pair.to, c)
	m.active.add(&ln.V, i, m.pair.from, -c)
	ln.Sums.Linear = c * (high - low)
	ln.Sums.Loss = p.Task.Dot(&ln.V, 0, ln.Batch.GoldOf(0))
	ln.Sums.Moved = 1
	return nil
}

// towardsOrAway replaces the pair by a step towards the best output, or away from the worst, whose slopes are given.
func (m *BCPFW) towardsOrAway(i int, towards, away float64) {
	if share := m.pair.most; away <= towards || share >= 1 {
		m.pair.from, m.pair.most = mixture, 1
	} else {
		m.pair.to, m.pair.most = mixture, share/(1-share)
	}
}

// ask adds the oracle's answer for the lane's example i, at its potentials, to the active outputs.
func (m *BCPFW) ask(ln *engine.Lane, i int) {
	ln.Output = vec.Grow(ln.Output, ln.Theta.OutputSize())
	if len(ln.Values) < 1 {
		ln.Values = make([]float64, 1)
	}
	ln.Oracle.Max(&ln.Theta, ln.Output, ln.Values[:1])
	m.active.find(i, ln.Output)
}

// resync recomputes w and the dual from the active outputs.
func (m *BCPFW) resync(ctx context.Context, p *train.Problem, s *train.State) error {
	u, err := m.recompose(ctx, p, s)
	if err != nil {
		return err
	}
	m.regulariser.Point(u.Grad, m.path.W)
	m.linear = u.Linear
	m.dual = dualValue(p, &m.regulariser, u.Linear, m.path.W)
	return nil
}

// recompose pulls back the active outputs' mixtures and records the bound.
func (m *BCPFW) recompose(ctx context.Context, p *train.Problem, s *train.State) (engine.Recomposed, error) {
	return m.bound.Recompose(ctx, p, s, p.Soften(m.path.W, m.path.Threshold), m.active, train.Entropy{}, m.passes)
}

func (m *BCPFW) Certify(ctx context.Context, p *train.Problem, s *train.State, keep bool) error {
	return m.bound.Certify(s, m.passes, m.best, keep, func() error {
		_, err := m.recompose(ctx, p, s)
		return err
	})
}

// Defer implements train.Deferrer. With a proximal term every pass needs F.
func (m *BCPFW) Defer(on bool) { m.lazy = on }

// report shows the bound, the best dual value, and the weights with the least F; where that is deferred, the mean
// iterate of the pass.
func (m *BCPFW) report(ctx context.Context, p *train.Problem, s *train.State) error {
	if !p.Plain() {
		m.dual = dualValue(p, &m.regulariser, m.linear, m.path.W)
	}
	m.best = max(m.best, m.dual)
	m.bound.Show(s, m.best)
	s.Kappa = m.regulariser.Kappa
	if s.Deferred = m.lazy && m.regulariser.Kappa == 0; !s.Deferred {
		return m.Complete(ctx, p, s, true)
	}
	if m.primal < math.Inf(1) && len(m.held) == 0 { // the pass before computed F
		if cap(m.held) < len(s.W) {
			m.held = p.Vector(len(s.W))
		}
		m.held = append(m.held[:0], s.W...)
	}
	copy(s.W, p.Soften(m.path.Mean, m.path.Threshold))
	s.Primal = math.NaN()
	return nil
}

// Complete implements train.Deferrer: it evaluates F at the iterate and at the pass's mean iterate.
func (m *BCPFW) Complete(ctx context.Context, p *train.Problem, s *train.State, keep bool) error {
	s.Deferred = false
	if s.Primal = m.primal; len(m.held) > 0 {
		copy(s.W, m.held)
	}
	from, last := m.path.W, 0.0
	for _, w := range [][]float32{m.path.W, m.path.Mean} {
		w = p.Soften(w, m.path.Threshold)
		f, _, err := p.Upper(ctx, w)
		if err != nil {
			return err
		}
		if keep {
			s.FullPasses++
		}
		if f < s.Primal {
			s.Primal = f
			copy(s.W, w)
		}
		from, last = w, f
	}
	if !keep {
		return nil
	}
	if s.Primal < m.primal {
		m.held = m.held[:0] // s.W has them until the next pass
	}
	m.primal = s.Primal
	m.regulariser.Advance(p, from, last, m.path.W) // from the mean, which varies less
	m.path.Threshold = m.regulariser.Threshold(p)
	return nil
}

// Archive saves or restores the method's state.
func (m *BCPFW) Archive(a engine.Archive) {
	m.active.archive(a)
	a.Floats("gaps", &m.gap)
	a.Floats("ages", &m.age)
	m.path.Archive(a)
	m.regulariser.Archive(a)
	a.Number("linear", &m.linear)
	a.Number("dual", &m.dual)
	a.Number("best", &m.best)
	m.bound.Archive(a)
	a.Number("primal", &m.primal)
	a.Floats("held", &m.held)
	a.Count("passes", &m.passes)
	m.rounds.Archive(a)
}
