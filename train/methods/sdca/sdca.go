// Package sdca holds stochastic dual coordinate ascent: its steps, their memory of dual potentials, the team of threads
// that takes steps together, and the threads that take them alone. The notation is that of package train.
package sdca

import (
	"cmp"
	"context"
	"math"
	"slices"
	"unsafe"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/proximal"
)

// SDCA is dual coordinate ascent for the losses that are log-partition functions, and the quadratic one (quadratic.go),
// in potential space. With the entropy H, it maximises the dual
//
//	D(u) = (1/n) Σ c_i [H(u_i) + ⟨u_i, a_i + ℓ_i⟩ − ⟨1_{y_i}, a_i⟩] + (λ/2)(‖c‖² − ‖w‖²) + constant,
//	w = c − (1/λn) Σ c_i J_iᵀ(u_i − 1_{y_i}),
//
// of an affine scorer θ_i = a_i + J_i w. Each u_i is stored as the marginals of dual potentials φ_i, so that H(u_i) =
// log Z(φ_i) − ⟨u_i, φ_i⟩ is exact and ∇H(u_i) = −φ_i. A step on example i scores it and moves its potentials towards
// the scores,
//
//	φ_i ← (1−η)φ_i + η(θ_i + ℓ_i),    u_i ← marginals(φ_i),    w ← w − (c_i/λn) J_iᵀΔu_i,
//
// which is a step of exponentiated gradient on the dual (Collins, Globerson, Koo, Carreras and Bartlett 2008). To first
// order in η it is the stochastic dual coordinate ascent of Shalev-Shwartz and Zhang (2013), for CRFs Le Priol, Piché
// and Lacoste-Julien (2018). It changes the dual by
//
//	ΔD = (c_i/n)(ΔH + ⟨Δu_i, θ_i + ℓ_i⟩) − (λ/2)‖Δw‖²,
//
// If that is negative, the step is undone and repeated with half the η. With d = θ_i + ℓ_i − φ_i, the two curvatures
// along a step, c_i η⟨d,Δu_i⟩ of the entropy and λn‖Δw‖² of the norm, give the η that would have been best. The
// example's next η is half-way from there to a little more than that one, on a log scale, so there is nothing to tune.
// With a sparse scorer a step touches only the weights of the example's own attributes. A step takes a few examples at
// once, scored at the same w; with dense inputs it takes one.
//
// Each of several ranks visits examples of its own, in engine.Rounds. Then the bits depend on the number of ranks.
//
// The gap is the mean of c_i KL(u_i ‖ marginals(θ_i + ℓ_i)), to first order c_i⟨d,Δu_i⟩/2η. After the first passes an
// example is visited if its gap was well above the mean at its last visit, and otherwise now and then (gap sampling,
// Osokin, Alayrac, Lukasewitz, Dokania and Lacoste-Julien 2016).
//
// With λ₁ > 0 it is proximal SDCA (Shalev-Shwartz and Zhang 2014): w holds v = c − g/λ, a step adds to v what it would
// add to the weights, and the weights that score are the soft thresholds of v (engine/elasticnet.go). ‖Δw‖² becomes the
// change of ‖soft(v)‖² less its linear part, which is known exactly. If λ is small, or 0, a proximal term helps
// (package proximal).
//
// The state shows the weights with the least F after a pass, or those of the pass where F is left to Complete. The last
// steps of a pass move w to and fro where examples share much, as dense inputs do. There the weights that are tried are
// means over the ends of passes, each counting half as much as the next; for attributes alone, w is closer to the
// optimum than such a mean. With a proximal term they are means of thresholded weights. The dual is certified when it
// is recomposed from the memory, at every Resync and in Certify, which does without the gradient where it can (met.go).
// In between, the changes of steps estimate it. The method is done once F and the bound differ by no more than
// rounding.
type SDCA struct {
	Resync int  // passes between recompositions of w from the memory, to remove rounding errors; 0 means 20
	Async  bool // threads take examples one by one without waiting; for sparse inputs only (async.go)
	Warm   bool // start from s.W (warm.go), not from the centre
	Online bool // be online exponentiated gradient (oeg.go)

	lone    []*loneStep // one per asynchronous thread
	memory  *dualMemory
	w       []float32 // before thresholding
	mean    []float32 // of w over the ends of passes; with a proximal term, after thresholding; of no use Online and for attributes alone without one
	linear  float64   // (1/n) Σ c_i [⟨u_i, a_i + ℓ_i⟩ − ⟨1_{y_i}, a_i⟩]
	entropy float64   // (1/n) Σ c_i H(u_i)
	primal  float64   // the least F seen, rounded up; that of s.W unless the pass deferred it
	rounded float64   // by that much
	dual    float64   // the largest D seen
	bound   train.LowerBound
	passes  int
	lazy    bool      // F may be left to Complete
	held    []float32 // the weights of the least F seen, while s.W has those of a pass that deferred F
	own     []float32 // the memory of s.W, while s.W is w itself (show)
	met     metPoint
	drop    []float32 // of a warm start, until the first pass has dropped it: w less the weights of the dual point

	regulariser proximal.Regulariser // that the steps see
	τ           float32              // threshold of w
	shards      []*dualShard         // of sparse inputs
	λ           float64              // that steps see, less than λ' where several ranks pull at w
	rounds      engine.Rounds        // of several ranks (blocks.go)
	kept        keptBlock
}

// dualBatch is the default number of examples per step: one for each of two threads. A larger batch keeps more threads
// busy, but its examples pull on the same weights at once, which requires shorter steps: four need two passes in ten
// more than two. Dense inputs are work enough for one example at a time, and all examples share their weights.
const (
	dualBatch  = 2
	denseBatch = 1
)

// closed is the estimated gap, in allowances for rounding, below which the method may have converged. The estimate's
// allowance covers fewer magnitudes than that of a recomposition.
const closed = 16

// Name returns "sdca", or "oeg" for online exponentiated gradient.
func (m *SDCA) Name() string {
	if m.Online {
		return "oeg"
	}
	return "sdca"
}

func (m *SDCA) Traits() train.Traits { return train.Traits{Convex: true, L1: true, Lanes: true} }

// Start begins at u_i = 1_{y_i}, where w is the centre, or Online at uniform distributions, regardless of s.W unless
// Warm. With soft targets it begins where their potentials are known to be (Objective.Origin), else at those of s.W.
func (m *SDCA) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := train.CheckConvex(m.Name(), p.Scorer); err != nil {
		return err
	}
	if err := train.CheckLabels(m.Name(), p.Objective); err != nil {
		return err
	}
	if !m.Online {
		if err := train.CheckGold(m.Name(), p.Objective); err != nil {
			return err
		}
	}
	if m.Online {
		if err := train.CheckNotQuadratic(m.Name(), p.Objective); err != nil {
			return err
		}
		if err := checkOnline(p); err != nil {
			return err
		}
	} else if !p.Loss.Smooth() {
		return train.Refuse(m.Name(), train.SmoothLoss, "needs a smooth loss, not %v", p.Loss)
	}
	if err := train.CheckEngine(m, p.Engine); err != nil {
		return err
	}
	if err := checkAsync(m.Async, p); err != nil {
		return err
	}
	if err := train.CheckRegulariser(m.Name(), p.Objective); err != nil {
		return err
	}
	restored := len(m.w) > 0
	if !restored {
		m.regulariser.Begin(p)
	}
	m.λ, m.τ = m.regulariser.Lambda, m.regulariser.Threshold(p)
	if _, rows := p.Rows(); rows && !m.Async {
		var err error
		if m.shards, err = newDualShards(p, m.τ); err != nil {
			return err
		}
	}
	if restored {
		return m.memory.attach(p.Objective)
	}
	m.memory = newDualMemory(p.Objective)
	m.w = vec.Huge[float32](len(s.W))
	copy(m.w, m.regulariser.Center)
	m.primal, m.dual = math.Inf(1), math.Inf(-1)
	m.bound = train.LowerBound{Value: p.Floor()}
	switch {
	case m.Warm || p.Soft && !m.Online:
		return m.warm(ctx, p, s)
	case m.Online:
		return m.uniform(ctx, p, s)
	case len(m.shards) > 0 && m.regulariser.Kappa == 0 && p.CanMeet():
		m.met.begin(len(m.shards))
	}
	return nil
}

// Pass makes n visits; the first pass visits every example.
func (m *SDCA) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	if m.shows(s) { // which will move
		m.hold(p, s)
	}
	size := dualBatch
	if m.Online {
		size = 1
	} else if rows, ok := p.Rows(); ok && rows.HasDense() || p.Loss == engine.Quadratic {
		size = denseBatch
	}
	r, size := p.Rand(s.Passes), min(cmp.Or(p.Batch, size), p.Len())
	sweep := func(order []int) error { return m.sweepAsync(ctx, p, order) }
	if !m.Async {
		team := newDualTeam(m, p)
		defer team.close()
		sweep = func(order []int) error { return team.sweep(ctx, order, size) }
	}
	own := p.Own()
	var order []int
	sweeps := func(n int, σ float64, visit func([]int)) error {
		m.λ = m.regulariser.Lambda / σ
		for n > 0 {
			if len(order) == 0 {
				order = m.memory.due(own, m.passes, m.Online)
				r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
				if size > 1 {
					match(order, p.Data)
				}
			}
			now := order[:min(len(order), n)]
			order, n = order[len(now):], n-len(now)
			visit(now)
			if err := sweep(now); err != nil {
				return err
			}
		}
		return nil
	}
	chunks := m.chunks(p)
	for k := range chunks {
		visits := len(own)*(k+1)/chunks - len(own)*k/chunks
		if k > 0 && m.drop == nil {
			m.rounds.Continue()
		}
		err := m.rounds.Round(ctx, p.Engine, m.regulariser.Lambda, m.τ, m, func(σ float64, visit func([]int)) error { return sweeps(visits, σ, visit) })
		if err != nil {
			return err
		}
		if m.drop != nil {
			vec.Axpy(-1.0/warmChunks, m.drop, m.w)
		}
	}
	if err := m.memory.tell(ctx, p); err != nil {
		return err
	}
	m.passes++
	s.Passes++
	s.OracleCalls += p.Len()
	if m.passes%cmp.Or(m.Resync, 20) == 0 || m.drop != nil {
		m.drop = nil
		if err := m.resync(ctx, p, s); err != nil {
			return err
		}
	}
	return m.report(ctx, p, s)
}

// match sorts short runs of examples by length, so that the examples of a step are about as long: each thread takes
// another one, and a short one would wait for a long one.
func match(order []int, d *structured.Dataset) {
	const run = 16
	for run := range slices.Chunk(order, run) {
		slices.SortStableFunc(run, func(i, j int) int { return d.OutputLength(i) - d.OutputLength(j) })
	}
}

// resync recomputes w and the dual's linear part from the memory.
func (m *SDCA) resync(ctx context.Context, p *train.Problem, s *train.State) error {
	u, err := m.recompose(ctx, p, s)
	if err != nil {
		return err
	}
	m.regulariser.Point(u.Grad, m.w)
	m.met.forget()
	m.linear, m.entropy = u.Linear, m.memory.meanEntropy(p.Objective)
	if p.Loss == engine.Quadratic { // the linear part includes what is in place of the entropy
		m.linear -= m.entropy
	}
	return nil
}

// recompose pulls back the memory and records its bound.
func (m *SDCA) recompose(ctx context.Context, p *train.Problem, s *train.State) (engine.Recomposed, error) {
	if p.Doubles() {
		u, h, ok, err := p.RecomposeDoubly(ctx, &m.memory.φ.Marginals, m.memory.visited)
		if ok && err == nil {
			s.FullPasses++
			m.bound.Record(p, u, train.Entropy{Value: h}, m.passes)
		}
		if ok || err != nil {
			return u, err
		}
	}
	entropy, err := m.memory.boundedEntropy(ctx, p)
	if err != nil {
		return engine.Recomposed{}, err
	}
	return m.bound.Recompose(ctx, p, s, p.Soften(m.w, m.τ), &m.memory.u, entropy, m.passes)
}

// Certify implements train.Certifier.
func (m *SDCA) Certify(ctx context.Context, p *train.Problem, s *train.State, keep bool) error {
	return m.bound.Certify(s, m.passes, m.dual, keep, func() error {
		if met, err := m.certifyMet(ctx, p, s); met || err != nil {
			return err
		}
		_, err := m.recompose(ctx, p, s)
		return err
	})
}

// Defer implements train.Deferrer. With a proximal term every pass needs F.
func (m *SDCA) Defer(on bool) { m.lazy = on }

// report shows the bound and the best dual value, and the weights with the least F or, where that is deferred, those of
// the pass.
func (m *SDCA) report(ctx context.Context, p *train.Problem, s *train.State) error {
	w := m.shown(p)
	estimate, err := m.estimate(ctx, p)
	if err != nil {
		return err
	}
	m.dual = max(m.dual, estimate)
	m.bound.Show(s, m.dual)
	s.Kappa, s.Step = m.regulariser.Kappa, m.memory.meanStep()
	if s.Deferred = m.lazy && m.regulariser.Kappa == 0; !s.Deferred {
		return m.evaluate(ctx, p, s, w, true)
	}
	if !m.shows(s) {
		m.hold(p, s)
	}
	m.show(s, w)
	s.Primal = math.NaN()
	return nil
}

// hold keeps the weights of the least F, which s.W has if the pass before computed it.
func (m *SDCA) hold(p *train.Problem, s *train.State) {
	if m.primal == math.Inf(1) || len(m.held) > 0 {
		return
	}
	if cap(m.held) < len(s.W) {
		m.held = p.Vector(len(s.W))
	}
	m.held = append(m.held[:0], s.W...)
}

// show makes s.W show the weights x. If these are w, s.W is w itself until the next pass, which begins by keeping what
// is of use after it: a copy of w after each pass would take about as long as a twentieth of the pass.
func (m *SDCA) show(s *train.State, x []float32) {
	switch {
	case !same(x, m.w):
		if m.shows(s) {
			s.W = m.own
		}
		copy(s.W, x)
	case !m.shows(s):
		m.own, s.W = s.W, m.w
	}
}

// shows reports whether s.W is w itself.
func (m *SDCA) shows(s *train.State) bool { return same(s.W, m.w) }

// same reports whether two vectors of weights have the same memory.
func same(x, y []float32) bool { return unsafe.SliceData(x) == unsafe.SliceData(y) }

// Complete implements train.Deferrer.
func (m *SDCA) Complete(ctx context.Context, p *train.Problem, s *train.State, keep bool) error {
	s.Deferred = false
	return m.evaluate(ctx, p, s, s.W, keep)
}

// evaluate computes F at w, and shows w if that is the least so far. If it is not to keep what it finds, that is all.
func (m *SDCA) evaluate(ctx context.Context, p *train.Problem, s *train.State, w []float32, keep bool) error {
	primal, rounded, err := m.upper(ctx, p, w)
	if err != nil {
		return err
	}
	least := primal < m.primal
	s.Above = rounded
	if s.Primal = min(primal, m.primal); !least && len(m.held) > 0 {
		m.show(s, m.held)
	}
	if !keep {
		return nil
	}
	s.FullPasses++
	if least {
		m.primal, m.rounded = primal, rounded
		m.show(s, w)
		m.held = m.held[:0] // s.W has them until the next pass
	}
	if m.primal-m.dual <= m.rounded+closed*p.Allowance(m.linear, m.entropy, p.Lambda/2*vec.Norm2(w)) {
		if err := m.Certify(ctx, p, s, true); err != nil {
			return err
		}
		s.Done = m.primal-m.bound.Value <= 2*(m.bound.Rounded+m.rounded)
	}
	m.regulariser.Advance(p, p.Soften(m.w, m.τ), primal, m.w)
	if τ := m.regulariser.Threshold(p); τ != m.τ {
		m.τ = τ
		for _, sh := range m.shards {
			sh.threshold(τ)
		}
	}
	return nil
}

// shown returns the weights that are tried after a pass. With a proximal term, whose v are of different κ and z, the
// mean is that of thresholded weights, where the last ones are not zero.
func (m *SDCA) shown(p *train.Problem) []float32 {
	proximal := m.regulariser.Kappa > 0
	if (m.Online || p.AttributesAlone()) && !proximal {
		return p.Soften(m.w, m.τ)
	}
	w := m.w
	if proximal {
		w = p.Soften(w, m.τ)
	}
	if len(m.mean) == 0 {
		m.mean = slices.Clone(w)
	} else {
		vec.Axpby(0.5, w, 0.5, m.mean)
	}
	if !proximal {
		return p.Soften(m.mean, m.τ)
	}
	for j, x := range w {
		if x == 0 {
			m.mean[j] = 0
		}
	}
	return m.mean
}

// estimate returns the dual value of the memory, computed from w instead of the memory.
func (m *SDCA) estimate(ctx context.Context, p *train.Problem) (float64, error) {
	if p.L1 == 0 {
		return p.DualValue(m.linear+m.entropy, m.w), nil
	}
	g := m.regulariser.Gradient(m.w)
	d, _ := p.ElasticBound(m.linear+m.entropy, g)
	if mixed := m.memory.mixed(p); p.Lambda == 0 && mixed != nil {
		s := p.FeasibleShare(g)
		h, err := mixed(ctx, s)
		return max(d, s*m.linear+h+p.Constant), err
	}
	return d, nil
}

// Archive saves or restores the method's state.
func (m *SDCA) Archive(a engine.Archive) {
	if m.memory == nil {
		m.memory = &dualMemory{}
	}
	m.memory.archive(a)
	a.Floats("w", &m.w)
	a.Floats("mean", &m.mean)
	a.Floats("held", &m.held)
	m.regulariser.Archive(a)
	a.Number("linear", &m.linear)
	a.Number("entropy", &m.entropy)
	a.Number("primal", &m.primal)
	a.Number("primal.rounding", &m.rounded)
	a.Number("dual", &m.dual)
	m.bound.Archive(a)
	a.Count("passes", &m.passes)
	m.met.archive(a)
	m.rounds.Archive(a)
	if m.Warm {
		a.Floats("drop", &m.drop)
	}
}
