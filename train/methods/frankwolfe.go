package methods

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// FrankWolfe is batch Frank-Wolfe on the dual of the hinge objective (Lacoste-Julien, Jaggi, Schmidt and Pletscher
// 2013, Algorithm 2). A pass asks the max oracle about all examples at w. Its answers are a corner s of the dual
// domain, with the gradient g_s and the value b_s at the centre of the linear lower bound on the mean loss that they
// prove. The dual point ū moves towards the corner,
//
//	g ← (1−γ)g + γg_s,    b ← (1−γ)b + γb_s,    w = c − g/λ,
//
// by the γ in [0, 1] that raises the dual b − ‖g‖²/2λ most, or by γ = 2/(k+2) in the k-th pass. Bounds cut w off, and
// change the dual (engine/bounds.go). Since only g and b matter, it remembers nothing of the examples: one vector as
// large as the weights, in float64. Every pass certifies its dual. The state shows the iterate with the least F.
type FrankWolfe struct {
	Harmonic bool // γ = 2/(k+2), without a line search
	Warm     bool // ask at s.W first, not at the centre

	cornerSteps
}

func (m *FrankWolfe) Name() string { return "fw" }

func (m *FrankWolfe) Traits() train.Traits { return train.Traits{Convex: true, Bounds: true} }

// Start begins at the gold outputs, where w is the centre.
func (m *FrankWolfe) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := checkHingeDual(m.Name(), p); err != nil {
		return err
	}
	at := startAt(p, s, m.Warm)
	p.Clip(at)
	return m.start(p, at)
}

// startAt returns the weights where a method that begins at the gold outputs asks the oracle first.
func startAt(p *train.Problem, s *train.State, warm bool) []float32 {
	at := make([]float32, len(s.W))
	if warm {
		copy(at, s.W)
	} else {
		copy(at, p.Center)
	}
	return at
}

// Pass asks about all examples and takes a step.
func (m *FrankWolfe) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	return m.pass(ctx, p, s, func(corner *engine.FullPass) (γ float64) {
		γ = m.length(p, corner)
		m.mixture.add(γ, corner)
		m.record(p)
		centred(p, m.mixture.grad, m.at)
		return γ
	})
}

// length returns the γ of a step towards a corner.
func (m *FrankWolfe) length(p *train.Problem, corner *engine.FullPass) float64 {
	slope, norm := corner.Central-m.mixture.central, 0.0
	for j, g := range m.mixture.grad {
		d := float64(corner.Grad[j]) - g
		slope -= g * d / p.Lambda
		norm += d * d / p.Lambda
	}
	switch {
	case m.Harmonic:
		return m.harmonic()
	case p.Bounds != nil:
		return m.searchBounded(p, corner)
	case slope > 0 && norm > 0:
		return min(slope/norm, 1)
	}
	return 0
}

// bisections of the line search with bounds, after which γ is known to a millionth.
const bisections = 20

// searchBounded returns the γ in [0, 1] that raises the dual most, between bounds of the weights: the slope of the dual
// falls with γ.
func (m *FrankWolfe) searchBounded(p *train.Problem, corner *engine.FullPass) float64 {
	d := make([]float64, len(corner.Grad))
	for j, g := range m.mixture.grad {
		d[j] = float64(corner.Grad[j]) - g
	}
	rises := func(γ float64) bool {
		_, slope, _ := p.CentralBound(m.mixture.grad, d, γ)
		return corner.Central-m.mixture.central+slope > 0
	}
	lo, hi := 0.0, 1.0
	if rises(hi) {
		return hi
	}
	for range bisections {
		if mid := (lo + hi) / 2; rises(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// record records the bound of the dual point.
func (m *FrankWolfe) record(p *train.Problem) {
	least, _, far := p.CentralBound(m.mixture.grad, nil, 0)
	rounded := m.mixture.rounded(p, math.Sqrt(far))
	if d := m.mixture.central + p.Constant + least - rounded; d > m.bound.Value {
		m.bound.Value, m.bound.Rounded = d, rounded
	}
}

// centred sets w to c − g/λ, cut off at the bounds.
func centred(p *train.Problem, g []float64, w []float32) {
	for j, x := range g {
		c := 0.0
		if p.Center != nil {
			c = float64(p.Center[j])
		}
		w[j] = float32(c - x/p.Lambda)
	}
	p.Clip(w)
}

// cornerSteps are the passes of batch Frank-Wolfe and of its saddle-point form: the oracle answers about all examples
// at w, the method steps towards the corner that the answers are, and the state shows the iterate with the least F.
type cornerSteps struct {
	at      []float32   // w, where the oracle is asked next
	mixture dualMixture // ū: its gradient and its value at the centre
	held    leastPrimal
	bound   train.LowerBound
	passes  int
}

// start begins at the gold outputs, where the oracle is asked at w first, unless a checkpoint was restored.
func (m *cornerSteps) start(p *train.Problem, w []float32) error {
	if len(m.at) > 0 {
		if len(m.at) != len(w) || len(m.mixture.grad) != len(m.at) || len(m.held.w) != len(m.at) {
			return structured.BadInput("the checkpoint is damaged: it has %d weights, expected %d", len(m.at), len(w))
		}
		return nil
	}
	m.at, m.mixture.grad = w, make([]float64, len(w))
	m.held = leastPrimal{append([]float32(nil), w...), math.Inf(1)}
	m.bound = train.LowerBound{Value: p.Floor()}
	return nil
}

// pass asks about all examples at w. step steps towards the corner, records the bound of the new dual point, and
// returns the length.
func (m *cornerSteps) pass(ctx context.Context, p *train.Problem, s *train.State,
	step func(corner *engine.FullPass) (γ float64)) error {
	corner, err := p.FullPass(ctx, m.at, oracles.Smoothing{}, nil)
	if err != nil {
		return err
	}
	copy(s.W, m.at)
	s.Primal = corner.Upper
	m.held.keep(s)
	s.Step = step(corner)
	m.passes++
	s.Passes++
	s.OracleCalls += p.Len()
	m.bound.Show(s, math.NaN())
	s.Done = s.Primal-s.Dual <= 2*s.Rounding
	return nil
}

// harmonic returns the length of a step that is not searched for.
func (m *cornerSteps) harmonic() float64 { return 2 / float64(m.passes+2) }

// Archive saves or restores the method's state.
func (m *cornerSteps) Archive(a engine.Archive) {
	a.Floats("w", &m.at)
	m.mixture.archive(a)
	m.held.archive(a)
	m.bound.Archive(a)
	a.Count("passes", &m.passes)
}
