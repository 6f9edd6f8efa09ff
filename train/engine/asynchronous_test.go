package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// The mean of the steps on all batches is a step along the gradient, though each moves only the weights that its batch
// touches.
func TestAsynchronousSteps(t *testing.T) {
	const n, γ = 7, 0.3
	p := traintest.Shifted(traintest.SparseProblem(n, engine.CRF, oracles.Smoothing{}, 0.2))
	e := engine.NewEngine(p.Objective, 1)
	r := rand.New(rand.NewPCG(1, 2))
	w, before := traintest.DrawWeights(r, e.Scorer.Dim(), 0.5), traintest.DrawWeights(r, e.Scorer.Dim(), 0.5)
	fill := func() (*engine.Memory, []float32) {
		m := engine.NewMemory(p.Objective)
		pass, err := e.FullPass(t.Context(), before, oracles.Smoothing{}, m)
		if err != nil {
			t.Fatal(err)
		}
		return m, pass.Grad
	}
	pass, err := e.FullPass(t.Context(), w, oracles.Smoothing{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float32, len(w)) // −γ∇F
	vec.Axpy(-γ, pass.Grad, want)
	vec.AddScaledDiff(-γ*0.2, w, e.Center, want)
	var all structured.Batch
	var touched sparse.Rows
	all.Reset(p.Data, p.All())
	rows, _ := e.Rows()
	rows.Rows(&all, &touched)
	if len(touched.Index) == rows.NumRows() {
		t.Fatal("every row is touched")
	}
	for row := range rows.NumRows() {
		if lo, hi := rows.Row(int32(row)); !slices.Contains(touched.Index, int32(row)) {
			vec.AddScaledDiff(1, e.Center[lo:hi], w[lo:hi], want[lo:hi])
			vec.Axpy(0.2*γ, w[lo:hi], want[lo:hi])
			vec.Axpy(-0.2*γ, e.Center[lo:hi], want[lo:hi])
		}
	}
	for size := 1; size <= 3; size++ {
		var batches [][]int
		for set := range 1 << n {
			var batch []int
			for i := range n {
				if set>>i&1 == 1 {
					batch = append(batch, i)
				}
			}
			if len(batch) == size {
				batches = append(batches, batch)
			}
		}
		a, got := e.NewAsynchronous(size), make([]float32, len(w))
		still := 0
		for _, batch := range batches {
			m, mean := fill()
			to := slices.Clone(w)
			if err := a.Sweep(t.Context(), to, mean, m, [][]int{batch}, engine.AsyncStep{Gamma: γ, Lambda: 0.2, Center: e.Center}); err != nil {
				t.Fatal(err)
			}
			for j := range to {
				if to[j] == w[j] {
					still++
				}
			}
			vec.AddScaledDiff(1/float32(len(batches)), to, w, got)
		}
		traintest.NearAll(t, "step", got, want, 1e-4)
		if still == 0 {
			t.Error("every step moves all weights")
		}
	}
}

// After a sweep on several threads ḡ is the mean of the memory, and every answer is in it.
func TestAsynchronousMean(t *testing.T) {
	p := traintest.SparseProblem(60, engine.CRF, oracles.Smoothing{}, 0.1)
	e := engine.NewEngine(p.Objective, 4)
	m := engine.NewMemory(p.Objective)
	was := slices.Clone(m.Parts[0].Values)
	a, w, mean := e.NewAsynchronous(4), make([]float32, e.Scorer.Dim()), make([]float32, e.Scorer.Dim())
	for range 5 {
		if err := a.Sweep(t.Context(), w, mean, m, slices.Collect(slices.Chunk(p.All(), 4)), engine.AsyncStep{Gamma: 0.1, Lambda: 0.1}); err != nil {
			t.Fatal(err)
		}
	}
	u, err := e.Recompose(t.Context(), w, m)
	if err != nil {
		t.Fatal(err)
	}
	traintest.NearAll(t, "ḡ", mean, u.Grad, 1e-4)
	if slices.Equal(was, m.Parts[0].Values) {
		t.Error("the memory is as it was")
	}
}
