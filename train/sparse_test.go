package train

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// sparseChains are noisyChains seen through attributes: some that depend on the label, some that do not, with values or
// all ones. The same inputs stand in Features, attribute by attribute.
func sparseChains(seed uint64, n, attributes, y int, values bool) *structured.Dataset {
	r := rand.New(rand.NewPCG(seed, 9))
	d := noisyChains(seed, n, 1, y)
	d.Dim = attributes
	d.Features = make([]float32, d.Positions()*attributes)
	x := &structured.Sparse{Offsets: []int{0}}
	for t, l := range d.Labels {
		for k := range 1 + r.IntN(5) {
			a := r.IntN(attributes)
			if k%2 == 0 {
				a = (int(l)*7 + r.IntN(4)) % attributes
			}
			value := float32(1)
			if values {
				value = float32(r.NormFloat64())
				x.Value = append(x.Value, value)
			}
			x.Index = append(x.Index, int32(a))
			d.Features[t*attributes+a] += value
		}
		x.Offsets = append(x.Offsets, len(x.Index))
	}
	d.Attributes = x
	return d
}

// sparseProblem is a problem with the linear scorer of sparse inputs.
func sparseProblem(n int, loss Loss, s oracles.Smoothing, λ float64) *Problem {
	data := sparseChains(1, n, 40, 4, loss == Hinge)
	net, err := sparse.NewChain(40, 0, 4, nets.EdgesTransition)
	if err != nil {
		panic(err)
	}
	o := &Objective{Scorer: net, Data: data, Loss: loss, Lambda: λ}
	return &Problem{Engine: NewEngine(o, 1), Smoothing: s, Seed: 3}
}

// densely is the same problem with a scorer of dense inputs, whose weights lie in the same order.
func densely(p *Problem) *Problem {
	o := *p.Objective
	o.Scorer = &testNet{dim: o.Data.Dim, labels: labelsOf(p)}
	q := *p
	q.Engine = NewEngine(&o, p.threads)
	return &q
}

func nearAll(t *testing.T, what string, got, want []float32, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d numbers, want %d", what, len(got), len(want))
	}
	for j := range got {
		near(t, what, float64(got[j]), float64(want[j]), tol)
	}
}

// What the engine finds on sparse inputs is what it finds on the same inputs written densely.
func TestSparseEngine(t *testing.T) {
	ctx := context.Background()
	for _, c := range fullPassCases {
		t.Run(c.name, func(t *testing.T) {
			p := shifted(sparseProblem(300, c.loss, c.smoothing, 0.1))
			q := densely(p)
			r := rand.New(rand.NewPCG(1, 2))
			w, to := drawWeights(r, p.Scorer.Dim(), 0.5), drawWeights(r, p.Scorer.Dim(), 0.5)
			memory, other := NewMemory(p.Objective), NewMemory(q.Objective)
			got, err := p.FullPass(ctx, w, c.smoothing, memory)
			want, err2 := q.FullPass(ctx, w, c.smoothing, other)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			near(t, "F", got.Primal, want.Primal, 1e-6)
			near(t, "F_μ", got.Smoothed, want.Smoothed, 1e-6)
			near(t, "linear part", got.Linear, want.Linear, 1e-5)
			nearAll(t, "gradient", got.Grad, want.Grad, 1e-5)
			g, b, err := p.Recompose(ctx, w, memory)
			h, a, err2 := q.Recompose(ctx, w, other)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			near(t, "recomposed linear part", b, a, 1e-5)
			nearAll(t, "recomposed gradient", g, h, 1e-5)

			for _, batch := range [][]int{{5}, {3, 1, 4}, r.Perm(p.Len())[:40]} {
				st, err := p.Step(ctx, to, batch, c.smoothing, memory)
				want, err2 := q.Step(ctx, to, batch, c.smoothing, other)
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				near(t, "⟨u − r, θ + ℓ⟩", st.Linear, want.Linear, 1e-5)
				near(t, "⟨D, w⟩", st.Product(), want.Product(), 1e-5)
				same := func(g, h Gradient) {
					t.Helper()
					near(t, "‖D‖²", g.Norm2(), h.Norm2(), 1e-5)
					near(t, "‖D‖² again", g.Norm2(), h.Norm2(), 1e-5)
					near(t, "⟨D, w̃⟩", g.Dot(w), h.Dot(w), 1e-5)
					d, e := slices.Clone(w), slices.Clone(w)
					g.AddTo(0.5, d)
					h.AddTo(0.5, e)
					nearAll(t, "w̃ + D/2", d, e, 1e-5)
				}
				same(st.Grad, want.Grad)
				change, err := p.Change(ctx, w, to, batch, c.smoothing)
				wantChange, err2 := q.Change(ctx, w, to, batch, c.smoothing)
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				same(change, wantChange)
			}
		})
	}
}

// A full pass has the same bits on any number of threads.
func TestSparseThreads(t *testing.T) {
	ctx := context.Background()
	var want *FullPass
	for _, threads := range []int{1, 2, 7} {
		p := sparseProblem(2000, CRF, oracles.Smoothing{}, 0.1)
		p.Engine = NewEngine(p.Objective, threads)
		if len(p.shards) <= passLanes {
			t.Fatal("one round only")
		}
		w := drawWeights(rand.New(rand.NewPCG(1, 2)), p.Scorer.Dim(), 0.5)
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
