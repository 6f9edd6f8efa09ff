package engine_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// The engine gives the same results on sparse inputs as on the same inputs in dense form.
func TestSparseEngine(t *testing.T) {
	ctx := context.Background()
	for _, c := range traintest.FullPassCases {
		t.Run(c.Name, func(t *testing.T) {
			p := traintest.Shifted(traintest.SparseProblem(300, c.Loss, c.Smoothing, 0.1))
			q := traintest.Densely(p)
			r := rand.New(rand.NewPCG(1, 2))
			w, to := traintest.DrawWeights(r, p.Scorer.Dim(), 0.5), traintest.DrawWeights(r, p.Scorer.Dim(), 0.5)
			memory, other := engine.NewMemory(p.Objective), engine.NewMemory(q.Objective)
			got, err := p.FullPass(ctx, w, c.Smoothing, memory)
			want, err2 := q.FullPass(ctx, w, c.Smoothing, other)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			traintest.Near(t, "F", got.Primal, want.Primal, 1e-6)
			traintest.Near(t, "F_μ", got.Smoothed, want.Smoothed, 1e-6)
			traintest.Near(t, "linear part", got.Linear, want.Linear, 1e-5)
			traintest.NearAll(t, "gradient", got.Grad, want.Grad, 1e-5)
			g, b, err := traintest.Pulled(p.Recompose(ctx, w, memory))
			h, a, err2 := traintest.Pulled(q.Recompose(ctx, w, other))
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			traintest.Near(t, "recomposed linear part", b, a, 1e-5)
			traintest.NearAll(t, "recomposed gradient", g, h, 1e-5)

			for _, batch := range [][]int{{5}, {3, 1, 4}, r.Perm(p.Len())[:40]} {
				st, err := p.Step(ctx, to, batch, c.Smoothing, memory)
				want, err2 := q.Step(ctx, to, batch, c.Smoothing, other)
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				traintest.Near(t, "⟨u − r, θ + ℓ⟩", st.Linear, want.Linear, 1e-5)
				traintest.Near(t, "⟨D, w⟩", st.Product(), want.Product(), 1e-5)
				same := func(g, h engine.Gradient) {
					t.Helper()
					traintest.Near(t, "‖D‖²", g.Norm2(), h.Norm2(), 1e-5)
					traintest.Near(t, "‖D‖² again", g.Norm2(), h.Norm2(), 1e-5)
					traintest.Near(t, "⟨D, w̃⟩", g.Dot(w), h.Dot(w), 1e-5)
					d, e := slices.Clone(w), slices.Clone(w)
					g.AddTo(0.5, d)
					h.AddTo(0.5, e)
					traintest.NearAll(t, "w̃ + D/2", d, e, 1e-5)
				}
				same(st.Grad, want.Grad)
				change, err := p.Change(ctx, w, to, batch, c.Smoothing)
				wantChange, err2 := q.Change(ctx, w, to, batch, c.Smoothing)
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				same(change, wantChange)
			}
		})
	}
}

// A full pass has the same bits for any number of threads.
func TestSparseThreads(t *testing.T) {
	ctx := context.Background()
	var want *engine.FullPass
	for _, threads := range []int{1, 2, 7} {
		p := traintest.SparseProblem(2000, engine.CRF, oracles.Smoothing{}, 0.1)
		p.Engine = engine.NewEngine(p.Objective, threads)
		if _, _, shards := p.Made(); shards <= engine.PassLanes {
			t.Fatal("one round only")
		}
		w := traintest.DrawWeights(rand.New(rand.NewPCG(1, 2)), p.Scorer.Dim(), 0.5)
		got, err := p.FullPass(ctx, w, p.Smoothing, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		} else if got.Linear != want.Linear || got.Primal != want.Primal || !slices.Equal(got.Grad, want.Grad) {
			t.Errorf("other bits with %d threads", threads)
		}
	}
}
