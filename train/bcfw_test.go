package train

import (
	"context"
	"math"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/vec"
)

func TestBCFWSteps(t *testing.T) {
	ctx := context.Background()
	for name, p := range map[string]*Problem{
		"plain":         linearProblem(30, 1, 0.05, 1),
		"shifted":       shifted(linearProblem(30, 1, 0.2, 1)),
		"weak λ":        linearProblem(30, 1, 1e-4, 1),
		"batches":       {Engine: linearProblem(30, 1, 0.05, 1).Engine, Batch: 7},
		"shift, batch":  {Engine: shifted(linearProblem(30, 1, 0.05, 1)).Engine, Batch: 11},
		"Frank-Wolfe":   {Engine: linearProblem(30, 1, 0.05, 1).Engine, Batch: 30},
		"by transition": linearProblem(30, 3, 1, 1),
	} {
		t.Run(name, func(t *testing.T) {
			m := &BCFW{}
			s := start(t, m, p)
			order := p.Rand(0).Perm(p.Len())
			for k := range 60 {
				lo := k * p.BatchSize() % p.Len()
				batch := order[lo:min(lo+p.BatchSize(), p.Len())]
				st, err := p.Step(ctx, m.path.w, batch, oracles.Smoothing{}, m.memory)
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
				// The gain kept up step by step is the dual of the memory, from scratch.
				g, b, err := pulled(p.Recompose(ctx, m.path.w, m.memory))
				if err != nil {
					t.Fatal(err)
				}
				w := make([]float32, len(m.path.w))
				copy(w, p.Center)
				vec.Axpy(float32(-1/p.Lambda), g, w)
				near(t, "dual", m.dual, m.dualValue(p, b, w), 2e-6)
				near(t, "b", m.linear, b, 1e-5)
				for j := range w {
					near(t, "recomposed weight", float64(m.path.w[j]), float64(w[j]), 1e-5+1e-7/p.Lambda)
				}
			}
			// The block gaps add up to the duality gap.
			all, err := p.Step(ctx, m.path.w, order, oracles.Smoothing{}, m.memory)
			if err != nil {
				t.Fatal(err)
			}
			primal, err := p.Value(ctx, m.path.w)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "sum of block gaps", all.Linear/float64(p.Len()), primal-m.dual, 1e-5)
			passes(t, m, p, s, 2)
		})
	}
}

func TestBCFWConverges(t *testing.T) {
	for name, p := range map[string]*Problem{
		"plain":       linearProblem(60, 1, 0.05, 2),
		"shifted":     shifted(linearProblem(60, 1, 0.1, 2)),
		"batches":     {Engine: linearProblem(60, 1, 0.05, 2).Engine, Batch: 4},
		"Frank-Wolfe": {Engine: linearProblem(60, 1, 0.5, 2).Engine, Batch: 60},
	} {
		t.Run(name, func(t *testing.T) {
			m := &BCFW{}
			s := start(t, m, p)
			dual := math.Inf(-1)
			for range 100 {
				passes(t, m, p, s, 1)
				raw := dualOfMemory(t, p, m.path.w, m.memory)
				if raw < dual-1e-6 {
					t.Fatalf("the dual fell from %g to %g", dual, raw)
				}
				dual = raw
				if m.dual > raw+1e-5 {
					t.Fatalf("the dual is %g by its gains, %g by the memory", m.dual, raw)
				}
			}
			certify(t, m, p, s)
			near(t, "certified dual", s.Dual, dual, 1e-5)
			t.Logf("primal %.6f, gap %.2g", s.Primal, s.Gap())
			if s.Gap() > 2e-2*s.Primal {
				t.Errorf("gap %g of primal %g after %d passes", s.Gap(), s.Primal, s.Passes)
			}
		})
	}
}

func TestBCFWRecomposesItsGap(t *testing.T) {
	p, m := linearProblem(60, 1, 0.05, 1), &BCFW{Resync: 1000}
	point := func() ([]float32, dualPoint, float64) { return m.path.w, m.memory, 0 }
	recomposesItsGap(t, p, m, point, func() { m.best = 1e3 })
}
