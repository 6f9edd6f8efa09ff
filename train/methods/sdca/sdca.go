package sdca

import (
	"cmp"
	"context"
	"math"

	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/proximal"
)

// SDCA is dual coordinate ascent for the losses that are log-partition functions, in potential space. With the entropy H, it
// maximises the dual
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
// which is a step of exponentiated gradient on the dual (Collins, Globerson, Koo, Carreras and Bartlett 2008). To first order
// in η it is the stochastic dual coordinate ascent of Shalev-Shwartz and Zhang (2013), for CRFs Le Priol, Piché and
// Lacoste-Julien (2018). It changes the dual by
//
//	ΔD = (c_i/n)(ΔH + ⟨Δu_i, θ_i + ℓ_i⟩) − (λ/2)‖Δw‖²,
//
// If that is negative, the step is undone and repeated with half the η. With d = θ_i + ℓ_i − φ_i, the two curvatures along a
// step, c_i η⟨d,Δu_i⟩ of the entropy and λn‖Δw‖² of the norm, give the η that would have been best. The example's next η is
// half-way there on a log scale, so there is nothing to tune. With a sparse scorer a step touches only the weights of the
// example's own attributes. A step takes a few examples at once, scored at the same w.
//
// The gap is the mean of c_i KL(u_i ‖ marginals(θ_i + ℓ_i)), to first order c_i⟨d,Δu_i⟩/2η. After the first passes an
// example is visited if its gap was above the mean at its last visit, and otherwise now and then (gap sampling, Osokin,
// Alayrac, Lukasewitz, Dokania and Lacoste-Julien 2016).
//
// With λ₁ > 0 it is proximal SDCA (Shalev-Shwartz and Zhang 2014): w holds v = c − g/λ, a step adds to v what it would add to the
// weights, and the weights that score are the soft thresholds of v (engine/elasticnet.go). ‖Δw‖² becomes the change of ‖soft(v)‖² less
// its linear part, which is known exactly. If λ is small, or 0, a proximal term helps (package proximal).
//
// The state shows the weights with the least F after a pass. The dual is certified when it is recomposed from the memory, at
// every Resync and in Certify. In between, the changes of steps estimate it. The method is done once F and the bound differ by
// no more than rounding.
type SDCA struct {
	Resync int  // passes between recompositions of w from the memory, to remove rounding errors; 0 means 20
	Async  bool // threads take examples one by one without waiting; for sparse inputs only (async.go)
	Warm   bool // start from s.W (warm.go), not from the centre
	Online bool // be online exponentiated gradient (oeg.go)

	lone    []*loneStep // one per asynchronous thread
	memory  *dualMemory
	w       []float32 // before thresholding
	linear  float64   // (1/n) Σ c_i [⟨u_i, a_i + ℓ_i⟩ − ⟨1_{y_i}, a_i⟩]
	entropy float64   // (1/n) Σ c_i H(u_i)
	primal  float64   // F(s.W), rounded up
	rounded float64   // by that much
	dual    float64   // the largest D seen
	bound   train.LowerBound
	passes  int
	drop    []float32 // of a warm start, until the first pass has dropped it: w less the weights of the dual point

	regulariser proximal.Regulariser // that the steps see
	τ           float32              // threshold of w
	shards      []*dualShard         // of sparse inputs
}

// dualBatch is the default number of examples per step. A larger batch keeps more threads busy, but its examples pull on the
// same weights at once, which requires shorter steps.
const dualBatch = 4

// closed is the estimated gap, in allowances for rounding, below which the method may have converged. The estimate's allowance
// covers fewer magnitudes than that of a recomposition.
const closed = 16

// Name returns "sdca", or "oeg" for online exponentiated gradient.
func (m *SDCA) Name() string {
	if m.Online {
		return "oeg"
	}
	return "sdca"
}

// UsesLanes implements train.LaneUser.
func (m *SDCA) UsesLanes() {}

// Convex returns true.
func (m *SDCA) Convex() bool { return true }

// TakesL1 implements train.L1Method.
func (m *SDCA) TakesL1() {}

// Start begins at u_i = 1_{y_i}, where w is the centre, or Online at uniform distributions, regardless of s.W unless Warm. With
// soft targets it begins where their potentials are known to be (Objective.Origin), else at those of s.W.
func (m *SDCA) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := train.CheckConvex(m.Name(), p.Scorer); err != nil {
		return err
	}
	if err := train.CheckLabels(m.Name(), p.Objective); err != nil {
		return err
	}
	if err := train.CheckNotQuadratic(m.Name(), p.Objective); err != nil {
		return err
	}
	if m.Online {
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
	m.τ = m.regulariser.Threshold(p)
	if p.Sparse() != nil && !m.Async {
		var err error
		if m.shards, err = newDualShards(p, m.τ); err != nil {
			return err
		}
	}
	if restored {
		return m.memory.attach(p.Objective)
	}
	m.memory = newDualMemory(p.Objective)
	m.w = make([]float32, len(s.W))
	copy(m.w, m.regulariser.Center)
	m.primal, m.dual = math.Inf(1), math.Inf(-1)
	m.bound = train.LowerBound{Value: p.Constant}
	switch {
	case m.Warm || p.Soft && !m.Online:
		return m.warm(ctx, p, s)
	case m.Online:
		return m.uniform(ctx, p, s)
	}
	return nil
}

// Pass makes n visits; the first pass visits every example.
func (m *SDCA) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	size := dualBatch
	if m.Online {
		size = 1
	}
	r, size := p.Rand(s.Passes), min(cmp.Or(p.Batch, size), p.Len())
	sweep := func(order []int) error { return m.sweepAsync(ctx, p, order) }
	if !m.Async {
		team := newDualTeam(m, p)
		defer team.close()
		sweep = func(order []int) error { return team.sweep(ctx, order, size) }
	}
	visits := 0
	for visits < p.Len() {
		order := m.memory.due(m.passes, m.Online)
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		order = order[:min(len(order), p.Len()-visits)]
		visits += len(order)
		var err error
		if m.drop == nil {
			err = sweep(order)
		} else {
			err = m.sweepWarm(order, sweep)
		}
		if err != nil {
			return err
		}
	}
	m.passes++
	s.Passes++
	s.OracleCalls += visits
	if m.passes%cmp.Or(m.Resync, 20) == 0 || m.drop != nil {
		m.drop = nil
		if err := m.resync(ctx, p, s); err != nil {
			return err
		}
	}
	return m.report(ctx, p, s)
}

// resync recomputes w and the dual's linear part from the memory.
func (m *SDCA) resync(ctx context.Context, p *train.Problem, s *train.State) error {
	u, err := m.recompose(ctx, p, s)
	if err != nil {
		return err
	}
	m.regulariser.Point(u.Grad, m.w)
	m.linear, m.entropy = u.Linear, m.memory.meanEntropy(p.Objective)
	return nil
}

// recompose pulls back the memory and records its bound.
func (m *SDCA) recompose(ctx context.Context, p *train.Problem, s *train.State) (engine.Recomposed, error) {
	return m.bound.Recompose(ctx, p, s, p.Soften(m.w, m.τ), &m.memory.u, m.memory.boundedEntropy(p), m.passes)
}

// Certify implements train.Certifier.
func (m *SDCA) Certify(ctx context.Context, p *train.Problem, s *train.State, keep bool) error {
	return m.bound.Certify(s, m.passes, m.dual, keep, func() error {
		_, err := m.recompose(ctx, p, s)
		return err
	})
}

// report shows the best weights, the bound, and the best dual value.
func (m *SDCA) report(ctx context.Context, p *train.Problem, s *train.State) error {
	w := p.Soften(m.w, m.τ)
	primal, rounded, err := p.Upper(ctx, w)
	if err != nil {
		return err
	}
	s.FullPasses++
	if primal < m.primal {
		m.primal, m.rounded = primal, rounded
		copy(s.W, w)
	}
	m.dual = max(m.dual, m.estimate(p))
	s.Primal = m.primal
	m.bound.Show(s, m.dual)
	if m.primal-m.dual <= m.rounded+closed*p.Allowance(m.linear, m.entropy, p.Lambda/2*vec.Norm2(w)) {
		if err := m.Certify(ctx, p, s, true); err != nil {
			return err
		}
		s.Done = m.primal-m.bound.Value <= 2*(m.bound.Rounded+m.rounded)
	}
	s.Smoothed, s.Mu, s.Kappa, s.Step, s.Exact = math.NaN(), 0, m.regulariser.Kappa, m.memory.meanStep(), math.NaN()
	m.regulariser.Advance(p, w, primal, m.w)
	if τ := m.regulariser.Threshold(p); τ != m.τ {
		m.τ = τ
		for _, sh := range m.shards {
			sh.threshold(τ)
		}
	}
	return nil
}

// estimate returns the dual value of the memory, computed from w instead of the memory.
func (m *SDCA) estimate(p *train.Problem) float64 {
	if p.L1 == 0 {
		return p.DualValue(m.linear+m.entropy, m.w)
	}
	d, _ := p.ElasticBound(m.linear+m.entropy, m.regulariser.Gradient(m.w))
	return d
}

// Archive saves or restores the method's state.
func (m *SDCA) Archive(a engine.Archive) {
	if m.memory == nil {
		m.memory = &dualMemory{}
	}
	m.memory.archive(a)
	a.Floats("w", &m.w)
	m.regulariser.Archive(a)
	a.Number("linear", &m.linear)
	a.Number("entropy", &m.entropy)
	a.Number("primal", &m.primal)
	a.Number("primal.rounding", &m.rounded)
	a.Number("dual", &m.dual)
	m.bound.Archive(a)
	a.Count("passes", &m.passes)
	if m.Warm {
		a.Floats("drop", &m.drop)
	}
}
