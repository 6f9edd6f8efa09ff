package methods

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// Warm starts of the methods on the dual of the hinge. They begin at the dual point of the oracle's answers u_i at s.W = w₀, with that
// point's own weights c − (1/λn) Σ c_i J_iᵀ(u_i − 1_{y_i}). Unless w₀ is optimal these differ from w₀, so the state shows w₀, and its F,
// until a pass finds better weights.

// warm is the warm start of BCPFW: every ū_i is one output.
func (m *BCPFW) warm(ctx context.Context, p *train.Problem, s *train.State) error {
	f, err := p.Value(ctx, s.W)
	if err != nil {
		return err
	}
	s.FullPasses++
	m.primal = f
	for i := range p.Len() {
		m.example[0] = i
		if _, err := p.OverBatch(ctx, engine.At(s.W), m.example[:], false, func(ln *engine.Lane) error { return m.answer(p, ln, engine.At(s.W), i) }); err != nil {
			return err
		}
		last := len(m.corners[i]) - 1
		m.corners.move(i, 0, last, 1)
		m.corners.prune(i)
	}
	s.OracleCalls += p.Len()
	return m.resync(ctx, p, s)
}

// answer asks the oracle about the lane's example i at a point and adds its answer to the corners.
func (m *BCPFW) answer(p *train.Problem, ln *engine.Lane, at engine.Point, i int) error {
	if err := p.Potentials(ln, at); err != nil {
		return err
	}
	m.ask(ln, i)
	return nil
}

// best keeps the weights with the least F that a method has shown.
type best struct {
	w      []float32
	primal float64
}

// warm is the warm start of BCFW.
func (m *BCFW) warm(ctx context.Context, p *train.Problem, s *train.State) error {
	pass, err := p.FullPass(ctx, s.W, oracles.Smoothing{}, m.memory)
	if err != nil {
		return err
	}
	s.FullPasses++
	m.held = best{append([]float32(nil), s.W...), pass.Primal}
	return m.resync(ctx, p, s)
}

// keep shows the best weights so far in s, instead of those that it shows.
func (b *best) keep(s *train.State) {
	if s.Primal < b.primal {
		b.primal = s.Primal
		copy(b.w, s.W)
		return
	}
	copy(s.W, b.w)
	s.Primal = b.primal
}

func (b *best) archive(a engine.Archive) {
	a.Floats("held", &b.w)
	a.Number("held.primal", &b.primal)
}
