package methods

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// Schedule is how SGD's step size decays.
type Schedule int

// The schedules, t counting steps from 0.
const (
	SqrtSchedule     Schedule = iota // γ0/√(1+t/t0)
	ConstantSchedule                 // γ0
	InverseSchedule                  // γ0/(1+t/t0)
	StairsSchedule                   // γ0/(1+⌊t/t0⌋)
	PegasosSchedule                  // 1/(λ(t+1)), without γ0 (Shalev-Shwartz et al. 2011)
)

var scheduleNames = []string{"sqrt", "constant", "inverse", "stairs", "pegasos"}

func (s Schedule) String() string { return scheduleNames[s] }

// ParseSchedule parses a schedule as String writes it.
func ParseSchedule(name string) (Schedule, error) {
	return structured.ParseName[Schedule]("schedule", scheduleNames, name)
}

// SGD is the stochastic subgradient method, for any scorer and any loss. It works on the hinge itself, without smoothing,
// unless a smoothing is given. A step on a batch B is
//
//	w ← w − γ_t ( (1/|B|) Σ_{i∈B} c_i J_iᵀ(u_i − 1_{y_i}) + λ(w − c) ).
//
// A pass visits every example once, in random order. On a network (Davis and Drusvyatskiy 2018) each step draws a new dropout
// mask; evaluating the objective turns dropout off.
type SGD struct {
	Rate      float64 // γ0; 0 finds one by a short search on part of the data (sgdsearch.go)
	Schedule  Schedule
	Halving   float64 // t0 in steps, after which the step size has halved (sqrt: fallen to 1/√2); 0 means one pass
	Averaging Averaging

	path  engine.Path
	rate  float64 // γ0 in use
	first float64 // F at the start, until the first good pass with a searched γ0; then 0
	t     int     // steps taken
}

// Name returns "sgd".
func (m *SGD) Name() string { return "sgd" }

// Convex returns false.
func (m *SGD) Convex() bool { return false }

// Start begins at s.W, after a search for γ0 if none is given.
func (m *SGD) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if m.Schedule == PegasosSchedule && p.Lambda <= 0 {
		return train.Refuse(m.Name(), train.Regulariser, "needs a regulariser for the pegasos schedule, whose step is 1/(λ(t+1))")
	}
	if len(m.path.W) > 0 { // restored
		m.path.Resume(p.Engine, p.Center)
		return nil
	}
	m.path.Start(p.Engine, s.W, p.Center)
	m.rate = m.Rate
	if m.rate == 0 && m.Schedule != PegasosSchedule {
		rate, calls, err := searchRate(ctx, p, s.W)
		if err != nil {
			return err
		}
		m.rate = rate
		s.OracleCalls += calls
		if m.first, err = p.Value(ctx, s.W); err != nil {
			return err
		}
		s.FullPasses++
	}
	s.Step = m.step(p)
	return nil
}

// Pass visits every example once. If F has exploded after the first pass with a searched γ0, it undoes the pass and halves γ0:
// the longest step that works on part of the data can be too long for all of it.
func (m *SGD) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	if m.first == 0 {
		return m.pass(ctx, p, s)
	}
	from := append([]float32(nil), s.W...)
	if err := m.pass(ctx, p, s); err != nil {
		if s.Primal, err = diverged(err); err != nil {
			return err
		}
		s.Passes++
	}
	if s.Primal <= exploded*m.first {
		m.first = 0
		return nil
	}
	copy(s.W, from)
	s.Primal = m.first
	m.path.Start(p.Engine, from, p.Center)
	m.t = 0
	m.rate /= 2
	return nil
}

// exploded is the largest ratio of F to its first value at which a pass is kept.
const exploded = 2

func (m *SGD) pass(ctx context.Context, p *train.Problem, s *train.State) error {
	order, size := p.Rand(s.Passes).Perm(p.Len()), p.BatchSize()
	kind := m.averaging(p)
	if kind == PassAverage {
		m.path.ResetMean()
	}
	γ := 0.0
	for lo := 0; lo < len(order); lo += size {
		batch := order[lo:min(lo+size, len(order))]
		γ = m.step(p)
		if err := descend(ctx, p, &m.path, batch, γ, dropoutSeed(p, m.t)); err != nil {
			return err
		}
		m.t++
		if kind != NoAverage {
			m.path.Include(kind.weight(m.path.Count))
		}
	}
	if err := m.path.Finish(); err != nil {
		return err
	}
	s.Passes++
	s.OracleCalls += len(order)
	if kind == NoAverage {
		copy(s.W, m.path.W)
	} else {
		copy(s.W, m.path.Mean)
	}
	s.Step = γ
	s.Smoothed, s.Kappa, s.Dual, s.Estimate = math.NaN(), 0, math.NaN(), math.NaN()
	s.Mu, s.Exact = subgradient(p).Mu, math.NaN()
	var err error
	s.Primal, err = p.Value(ctx, s.W)
	s.FullPasses++
	return err
}

// averaging returns the scheme that AutoAverage selects.
func (m *SGD) averaging(p *train.Problem) Averaging {
	switch {
	case m.Averaging != AutoAverage:
		return m.Averaging
	case p.Scorer.Affine():
		return WeightedAverage
	}
	return PassAverage
}

// step returns γ_t.
func (m *SGD) step(p *train.Problem) float64 {
	t, t0 := float64(m.t), m.Halving
	if t0 == 0 {
		t0 = math.Ceil(float64(p.Len()) / float64(p.BatchSize()))
	}
	switch m.Schedule {
	case SqrtSchedule:
		return m.rate / math.Sqrt(1+t/t0)
	case InverseSchedule:
		return m.rate / (1 + t/t0)
	case StairsSchedule:
		return m.rate / (1 + math.Floor(t/t0))
	case PegasosSchedule:
		return 1 / (p.Lambda * (t + 1))
	}
	return m.rate
}

// descend takes one subgradient step along a path.
func descend(ctx context.Context, p *train.Problem, w *engine.Path, batch []int, γ float64, dropout uint64) error {
	st, err := p.StepAt(ctx, w.At(), batch, subgradient(p), nil, dropout)
	if err != nil {
		return err
	}
	decay, pull := γ*p.Lambda, 0.0
	if p.Center != nil {
		pull = decay
	}
	w.Step(1-decay, pull, -γ/float64(len(batch)), 0, st.Grad)
	return nil
}

// subgradient returns the smoothing that SGD uses: the given one, or none.
func subgradient(p *train.Problem) oracles.Smoothing {
	if p.Smoothing.Mu > 0 {
		return p.Smoothing
	}
	return oracles.Smoothing{}
}

// Archive saves or restores the method's state.
func (m *SGD) Archive(a engine.Archive) {
	m.path.Archive(a)
	a.Number("rate", &m.rate)
	a.Number("first", &m.first)
	a.Count("steps", &m.t)
}
