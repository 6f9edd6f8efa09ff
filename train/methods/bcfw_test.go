package methods

import (
	"context"
	"math"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

func TestBCFWSteps(t *testing.T) {
	ctx := context.Background()
	for name, p := range map[string]*train.Problem{
		"plain":         traintest.LinearProblem(30, 1, 0.05, 1),
		"shifted":       traintest.Shifted(traintest.LinearProblem(30, 1, 0.2, 1)),
		"weak λ":        traintest.LinearProblem(30, 1, 1e-4, 1),
		"batches":       {Engine: traintest.LinearProblem(30, 1, 0.05, 1).Engine, Batch: 7},
		"shift, batch":  {Engine: traintest.Shifted(traintest.LinearProblem(30, 1, 0.05, 1)).Engine, Batch: 11},
		"Frank-Wolfe":   {Engine: traintest.LinearProblem(30, 1, 0.05, 1).Engine, Batch: 30},
		"by transition": traintest.LinearProblem(30, 3, 1, 1),
	} {
		t.Run(name, func(t *testing.T) {
			m := &BCFW{}
			s := traintest.Start(t, m, p)
			order := p.Rand(0).Perm(p.Len())
			for k := range 60 {
				lo := k * p.BatchSize() % p.Len()
				batch := order[lo:min(lo+p.BatchSize(), p.Len())]
				st, err := p.Step(ctx, m.path.W, batch, oracles.Smoothing{}, m.memory)
				if err != nil {
					t.Fatal(err)
				}
				if st.Linear < -1e-6 {
					t.Fatalf("block gap %g", st.Linear)
				}
				before := m.dual
				if err := m.step(ctx, p, batch); err != nil {
					t.Fatal(err)
				}
				if m.dual < before {
					t.Fatalf("step %d: the dual fell from %g to %g", k, before, m.dual)
				}
				// The gain accumulated over the steps equals the dual of the memory, computed from scratch.
				g, b, err := traintest.Pulled(p.Recompose(ctx, m.path.W, m.memory))
				if err != nil {
					t.Fatal(err)
				}
				w := make([]float32, len(m.path.W))
				copy(w, p.Center)
				vec.Axpy(float32(-1/p.Lambda), g, w)
				traintest.Near(t, "dual", m.dual, p.DualValue(b, w), 2e-6)
				traintest.Near(t, "b", m.linear, b, 1e-5)
				for j := range w {
					traintest.Near(t, "recomposed weight", float64(m.path.W[j]), float64(w[j]), 1e-5+1e-7/p.Lambda)
				}
			}
			// The block gaps add up to the duality gap.
			all, err := p.Step(ctx, m.path.W, order, oracles.Smoothing{}, m.memory)
			if err != nil {
				t.Fatal(err)
			}
			primal, err := p.Value(ctx, m.path.W)
			if err != nil {
				t.Fatal(err)
			}
			traintest.Near(t, "sum of block gaps", all.Linear/float64(p.Len()), primal-m.dual, 1e-5)
			traintest.Passes(t, m, p, s, 2)
		})
	}
}

func TestBCFWConverges(t *testing.T) {
	for name, p := range map[string]*train.Problem{
		"plain":       traintest.LinearProblem(60, 1, 0.05, 2),
		"shifted":     traintest.Shifted(traintest.LinearProblem(60, 1, 0.1, 2)),
		"batches":     {Engine: traintest.LinearProblem(60, 1, 0.05, 2).Engine, Batch: 4},
		"Frank-Wolfe": {Engine: traintest.LinearProblem(60, 1, 0.5, 2).Engine, Batch: 60},
	} {
		t.Run(name, func(t *testing.T) {
			m := &BCFW{}
			s := traintest.Start(t, m, p)
			dual := math.Inf(-1)
			for range 100 {
				traintest.Passes(t, m, p, s, 1)
				raw := traintest.DualOfMemory(t, p, m.path.W, m.memory)
				if raw < dual-1e-6 {
					t.Fatalf("the dual fell from %g to %g", dual, raw)
				}
				dual = raw
				if m.dual > raw+1e-5 {
					t.Fatalf("the dual is %g by its gains, %g by the memory", m.dual, raw)
				}
			}
			traintest.Certify(t, m, p, s)
			traintest.Near(t, "certified dual", s.Dual, dual, 1e-5)
			t.Logf("primal %.6f, gap %.2g", s.Primal, s.Gap())
			if s.Gap() > 2e-2*s.Primal {
				t.Errorf("gap %g of primal %g after %d passes", s.Gap(), s.Primal, s.Passes)
			}
		})
	}
}

func TestBCFWRecomposesItsGap(t *testing.T) {
	p, m := traintest.LinearProblem(60, 1, 0.05, 1), &BCFW{Resync: 1000}
	point := func() ([]float32, engine.DualPoint, float64) { return m.path.W, m.memory, 0 }
	traintest.RecomposesItsGap(t, p, m, point, func() { m.best = 1e3 })
}

// With λ₁, steps raise the dual by what they say, and shorter ones along the same line would raise it less, with
// dense and with sparse inputs.
func TestStepsWithL1(t *testing.T) {
	for name, p := range map[string]*train.Problem{
		"dense":  traintest.LinearProblem(30, 1, 0.2, 1),
		"sparse": traintest.SparseProblem(30, engine.Hinge, oracles.Smoothing{}, 0.2),
		"both":   traintest.Densely(traintest.SparseProblem(30, engine.Hinge, oracles.Smoothing{}, 0.2)),
	} {
		for _, batch := range []int{1, 7} {
			p.L1 = 0.02
			m := &BCFW{}
			traintest.Start(t, m, p)
			if m.regulariser.Kappa != 0 {
				t.Fatalf("κ is %g", m.regulariser.Kappa)
			}
			dual := func(linear float64, v []float32) float64 {
				return linear - p.Lambda/2*vec.Norm2(p.Soften(v, m.path.Threshold))
			}
			for k := range 40 {
				examples := p.Rand(k).Perm(p.Len())[:batch]
				before, b := append([]float32(nil), m.path.W...), m.linear
				was := dual(b, before)
				m.dual = was
				if err := m.step(t.Context(), p, examples); err != nil {
					t.Fatal(err)
				}
				if err := m.path.Finish(); err != nil {
					t.Fatal(err)
				}
				traintest.Near(t, name+": dual", m.dual, dual(m.linear, m.path.W), 1e-5)
				for _, share := range []float64{0.5, 0.9} {
					v := append([]float32(nil), before...)
					vec.Axpby(float32(share), m.path.W, float32(1-share), v)
					if other := dual(b+share*(m.linear-b), v); other > m.dual+1e-5 {
						t.Errorf("%s, step %d: %g of the step raises the dual to %g, all of it to %g", name, k, share, other, m.dual)
					}
				}
			}
			_, linear, err := traintest.Pulled(p.Recompose(t.Context(), p.Soften(m.path.W, m.path.Threshold), m.memory))
			if err != nil {
				t.Fatal(err)
			}
			traintest.Near(t, name+": b", m.linear, linear, 1e-5)
		}
	}
}
