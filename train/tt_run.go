package train

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/structured/vec"
)

func start(t *testing.T, m Method, p *Problem) *State {
	t.Helper()
	s := &State{W: make([]float32, p.Scorer.Dim())}
	if err := m.Start(context.Background(), p, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func begin(t *testing.T, m Method, p *Problem, s *State) {
	t.Helper()
	if err := m.Start(t.Context(), p, s); err != nil {
		t.Fatal(err)
	}
}

func passes(t *testing.T, m Method, p *Problem, s *State, n int) {
	t.Helper()
	for range n {
		if err := m.Pass(context.Background(), p, s); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(m.Name()); err != nil {
			t.Fatal(err)
		}
	}
}

// certify has a method recompose its bound.
func certify(t *testing.T, m certifier, p *Problem, s *State) {
	t.Helper()
	if err := m.Certify(context.Background(), p, s, true); err != nil {
		t.Fatal(err)
	}
	if err := s.Check("the method"); err != nil {
		t.Fatal(err)
	}
}

func glorotState(p *Problem) *State { return &State{W: p.Scorer.(*testNet).glorot(1)} }

func value(t *testing.T, e *Engine, w []float32) float64 {
	t.Helper()
	f, err := e.Value(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// dualOfMemory returns D of a hinge's dual point from scratch.
func dualOfMemory(t *testing.T, p *Problem, w []float32, u dualPoint) float64 {
	t.Helper()
	g, b, err := pulled(p.Recompose(context.Background(), w, u))
	if err != nil {
		t.Fatal(err)
	}
	return dualValue(p.Objective, b, g)
}

// dualValue returns D of the dual point with linear part a and gradient g, for λ > 0.
func dualValue(o *Objective, a float64, g []float32) float64 {
	return o.AtCenter(a, g) - vec.Norm2(g)/(2*o.Lambda)
}

func drawWeights(r *rand.Rand, dim int, scale float64) []float32 {
	w := make([]float32, dim)
	for j := range w {
		w[j] = float32(scale * r.NormFloat64())
	}
	return w
}

// pulled parts what Recompose returns.
func pulled(u Recomposed, err error) (g []float32, b float64, _ error) { return u.Grad, u.Linear, err }
