package engine_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// denseChains is a problem of net linear on noisy chains with weights of examples.
func denseChains(t *testing.T, n int, λ float64, change func(d *structured.Dataset)) *engine.Objective {
	d := traintest.NoisyChains(1, n, 5, 4)
	if change != nil {
		change(d)
	}
	net, err := nets.Make(nets.Config{Net: "linear", Edges: nets.EdgesTransition}, graph.Input{Dim: d.Dim}, nets.ChainOutput(4, nets.EdgesTransition))
	if err != nil {
		t.Fatal(err)
	}
	return &engine.Objective{Scorer: net, Data: d, Loss: engine.CRF, Lambda: λ}
}

// In weights that multiply dense inputs, and their biases, the metric is the Hessian of the mean loss, summed over
// positions that are taken as independent, plus λ, but for changes that all labels have in common, where it is λ. In
// transitions it is the Hessian, plus λ.
func TestMetricIsTheHessianOfPositions(t *testing.T) {
	for _, c := range []struct {
		loss engine.Loss
		by   oracles.Smoothing
	}{{engine.CRF, oracles.Smoothing{}}, {engine.Hinge, oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}}} {
		o := denseChains(t, 5, 0.3, func(d *structured.Dataset) { d.Weights = []float64{1, 2, 1, 0.5, 1} })
		o.Loss = c.loss
		e := engine.NewEngine(o, 2)
		w := traintest.DrawWeights(rand.New(rand.NewPCG(3, 4)), o.Scorer.Dim(), 0.3)
		m, err := e.NewMetric(t.Context(), w, c.by)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(5, 6))
		g, step := make([]float64, len(w)), make([]float64, len(w))
		for j := range g {
			g[j] = r.NormFloat64()
		}
		m.Solve(e, step, g)
		checkColumns(t, e, w, c.by, g, step)
		checkTied(t, e, w, c.by, g, step)
	}
}

// checkColumns checks that the columns x_y of a step P⁻¹g in the block of dense inputs have the sum Σ g_y/λ, and that
// all columns x_y − A_y⁻¹(g_y − mean) are the same, for the matrices A_y computed from their definition.
func checkColumns(t *testing.T, e *engine.Engine, w []float32, by oracles.Smoothing, g, step []float64) {
	t.Helper()
	memory, err := e.NewMemory()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.FullPass(t.Context(), w, by, memory); err != nil {
		t.Fatal(err)
	}
	μ := cmp.Or(by.Mu, 1)
	d, b := e.Data, nets.DenseBlocks(e.Scorer)[0]
	k, y := b.Dim+1, b.Width
	if b.Bias < 0 {
		t.Fatal("the block has no biases")
	}
	weight := func(j, label int) int { // of input j, the last of which is the 1 of the bias
		if j == b.Dim {
			return b.Bias + label
		}
		return b.Offset + j*y + label
	}
	var first []float64
	sum := make([]float64, k)
	for label := range y {
		a, rest := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
		z := make([]float64, k)
		for i := range d.Len() {
			for p := d.Offsets[i]; p < d.Offsets[i+1]; p++ {
				for j := range b.Dim {
					z[j] = float64(d.Features[p*d.Dim+j])
				}
				z[b.Dim] = 1
				u := float64(memory.Parts[b.Part].Values[p*y+label])
				a.SymRankOne(a, d.Weights[i]*u*(1-u)/μ/float64(d.Len()), mat.NewVecDense(k, z))
			}
		}
		for j := range k {
			a.SetSym(j, j, a.At(j, j)+e.Lambda)
			mean := 0.0
			for other := range y {
				mean += g[weight(j, other)] / float64(y)
			}
			rest.SetVec(j, g[weight(j, label)]-mean)
		}
		var x mat.VecDense
		if err := x.SolveVec(a, rest); err != nil {
			t.Fatal(err)
		}
		for j := range k {
			sum[j] += step[weight(j, label)] - g[weight(j, label)]/e.Lambda
			shift := step[weight(j, label)] - x.AtVec(j)
			if label == 0 {
				first = append(first, shift)
			} else if math.Abs(shift-first[j]) > 1e-4 {
				t.Errorf("input %d: label %d moves by %v more than A⁻¹g, label 0 by %v", j, label, shift, first[j])
			}
		}
	}
	for j, x := range sum {
		if math.Abs(x) > 1e-6 {
			t.Errorf("input %d: the sum over labels is %v off", j, x)
		}
	}
}

// checkTied checks that the transitions' part x of a step P⁻¹g has (H + λI)x = g for the Hessian H, computed by
// differences of gradients.
func checkTied(t *testing.T, e *engine.Engine, w []float32, by oracles.Smoothing, g, step []float64) {
	t.Helper()
	b := nets.TiedBlocks(e.Scorer)[0]
	for j := range b.Width {
		var grads [2][]float32
		for k, h := range []float32{0.05, -0.05} {
			x := slices.Clone(w)
			x[b.Offset+j] += h
			pass, err := e.FullPass(t.Context(), x, by, nil)
			if err != nil {
				t.Fatal(err)
			}
			grads[k] = pass.Grad
		}
		got := e.Lambda * step[b.Offset+j]
		for k, x := range step[b.Offset:][:b.Width] {
			got += float64(grads[0][b.Offset+k]-grads[1][b.Offset+k]) / 0.1 * x
		}
		if want := g[b.Offset+j]; math.Abs(got-want) > 0.1*(1+math.Abs(want)) {
			t.Errorf("transition %d: the Hessian times the step is %v, want %v", j, got, want)
		}
	}
}

// Inputs that break factorisations, or overflow, still give a metric with finite, positive steps, and the same bits
// with any number of threads.
func TestMetricOfHardInputs(t *testing.T) {
	set := func(f func(t, j int, x float32) float32) func(d *structured.Dataset) {
		return func(d *structured.Dataset) {
			for p := range d.Positions() {
				row := d.Features[p*d.Dim:][:d.Dim]
				for j, x := range slices.Clone(row) {
					row[j] = f(p, j, x)
				}
			}
		}
	}
	for name, change := range map[string]func(d *structured.Dataset){
		"zeros":           set(func(_, _ int, _ float32) float32 { return 0 }),
		"a zero column":   set(func(_, j int, x float32) float32 { return x * float32(min(j, 1)) }),
		"constants":       set(func(_, j int, x float32) float32 { return 3 * float32(j) }),
		"duplicates":      set(func(p, _ int, _ float32) float32 { return float32(p%7) * 1e3 }),
		"huge":            set(func(_, _ int, x float32) float32 { return x * 1e37 }),
		"tiny":            set(func(_, _ int, x float32) float32 { return x * 1e-38 }),
		"different sizes": set(func(_, j int, x float32) float32 { return x * float32(math.Pow(10, float64(8*j-16))) }),
		"an outlier":      set(func(p, _ int, x float32) float32 { return x * float32(1+1e12*float64(1-min(p, 1))) }),
	} {
		for _, λ := range []float64{0, 1e-12, 0.1} {
			for _, n := range []int{1, 40} { // fewer positions than inputs and labels, and more
				t.Run(fmt.Sprint(name, λ, n), func(t *testing.T) {
					o := denseChains(t, n, λ, change)
					w, g := make([]float32, o.Scorer.Dim()), make([]float64, o.Scorer.Dim())
					for j := range g {
						g[j] = float64(j%5 - 2)
					}
					var first []float64
					for _, threads := range []int{1, 2, 7} {
						e := engine.NewEngine(o, threads)
						m, err := e.NewMetric(t.Context(), w, oracles.Smoothing{})
						if err != nil {
							t.Fatal(err)
						}
						step := make([]float64, len(g))
						m.Solve(e, step, g)
						down := 0.0
						for j, x := range step {
							down += x * g[j]
						}
						if !(down > 0) || math.IsInf(down, 0) {
							t.Fatalf("⟨g, P⁻¹g⟩ = %v", down)
						}
						if first == nil {
							first = step
						} else if !slices.Equal(first, step) {
							t.Fatalf("other bits with %d threads", threads)
						}
					}
				})
			}
		}
	}
}

// With more rows than the metric needs it takes some of them, which stand for all: the matrix keeps its size in every
// direction.
func TestMetricOfSomeRows(t *testing.T) {
	o := denseChains(t, 400, 1e-6, nil)
	d, e := o.Data, engine.NewEngine(o, 1)
	m, err := e.NewMetric(t.Context(), make([]float32, o.Scorer.Dim()), oracles.Smoothing{})
	if err != nil {
		t.Fatal(err)
	}
	block := nets.DenseBlocks(o.Scorer)[0]
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		// For the matrix H of all rows, of which each has the weight 3/16, the metric has ⟨x, P⁻¹Hx⟩ between ½|x|² and
		// 2|x|² if P is like H. x is a step of label 0, and −x one of label 1, so that the labels have nothing in
		// common.
		x, hx := make([]float64, d.Dim), make([]float64, o.Scorer.Dim())
		square := 0.0
		for j := range x {
			x[j] = rng.NormFloat64()
			square += x[j] * x[j]
		}
		for p := range d.Positions() {
			row, dot := d.Features[p*d.Dim:][:d.Dim], 0.0
			for j, z := range row {
				dot += float64(z) * x[j]
			}
			for j, z := range row {
				g := 3. / 16 * dot * float64(z) / float64(d.Len())
				hx[block.Offset+j*4] += g
				hx[block.Offset+j*4+1] -= g
			}
			hx[block.Bias] += 3. / 16 * dot / float64(d.Len())
			hx[block.Bias+1] -= 3. / 16 * dot / float64(d.Len())
		}
		step, product := make([]float64, len(hx)), 0.0
		m.Solve(e, step, hx)
		for j := range x {
			product += x[j] * step[block.Offset+j*4]
		}
		if product < square/2 || product > 2*square {
			t.Fatalf("⟨x, P⁻¹Hx⟩ = %v, |x|² = %v", product, square)
		}
	}
}
