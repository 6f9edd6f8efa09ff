package traintest

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

func Start(t testing.TB, m train.Method, p *train.Problem) *train.State {
	t.Helper()
	s := train.NewState(make([]float32, p.Scorer.Dim()))
	if err := m.Start(context.Background(), p, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func Begin(t *testing.T, m train.Method, p *train.Problem, s *train.State) {
	t.Helper()
	if err := m.Start(t.Context(), p, s); err != nil {
		t.Fatal(err)
	}
}

func Passes(t testing.TB, m train.Method, p *train.Problem, s *train.State, n int) {
	t.Helper()
	for range n {
		if err := train.Pass(context.Background(), m, p, s); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(m.Name()); err != nil {
			t.Fatal(err)
		}
	}
}

// Certify makes a method recompose its bound.
func Certify(t *testing.T, m train.Certifier, p *train.Problem, s *train.State) {
	t.Helper()
	if err := m.Certify(context.Background(), p, s, true); err != nil {
		t.Fatal(err)
	}
	if err := s.Check("the method"); err != nil {
		t.Fatal(err)
	}
}

func GlorotState(p *train.Problem) *train.State { return train.NewState(p.Scorer.(*Net).Glorot(1)) }

func Value(t *testing.T, e *engine.Engine, w []float32) float64 {
	t.Helper()
	f, err := e.Value(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Upper returns F(w) rounded up, as certificates show it.
func Upper(t *testing.T, e *engine.Engine, w []float32) float64 {
	t.Helper()
	f, _, err := e.Upper(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// DualOfMemory returns D of a hinge's dual point from scratch.
func DualOfMemory(t *testing.T, p *train.Problem, w []float32, u engine.DualPoint) float64 {
	t.Helper()
	g, b, err := Pulled(p.Recompose(context.Background(), w, u))
	if err != nil {
		t.Fatal(err)
	}
	return DualValue(p.Objective, b, g)
}

// DualValue returns D of the dual point with linear part a and gradient g, for λ > 0.
func DualValue(o *engine.Objective, a float64, g []float32) float64 {
	return o.AtCenter(a, g) - vec.Norm2(g)/(2*o.Lambda)
}

func DrawWeights(r *rand.Rand, dim int, scale float64) []float32 {
	w := make([]float32, dim)
	for j := range w {
		w[j] = float32(scale * r.NormFloat64())
	}
	return w
}

// Pulled splits the result of Recompose.
func Pulled(u engine.Recomposed, err error) (g []float32, b float64, _ error) {
	return u.Grad, u.Linear, err
}
