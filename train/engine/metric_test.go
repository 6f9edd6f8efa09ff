package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

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

// In weights that multiply dense inputs the metric is the Hessian of the mean loss, summed over positions that are taken as independent, plus λ.
// Each of its columns comes back from Solve as a unit vector.
func TestMetricIsTheHessianOfPositions(t *testing.T) {
	for _, c := range []struct {
		loss engine.Loss
		by   oracles.Smoothing
	}{{engine.CRF, oracles.Smoothing{}}, {engine.Hinge, oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}}} {
		o := denseChains(t, 5, 0.3, func(d *structured.Dataset) { d.Weights = []float64{1, 2, 1, 0.5, 1} })
		o.Loss = c.loss
		e, d := engine.NewEngine(o, 2), o.Data
		w := traintest.DrawWeights(rand.New(rand.NewPCG(3, 4)), o.Scorer.Dim(), 0.3)
		m, err := e.NewMetric(t.Context(), w, c.by)
		if err != nil {
			t.Fatal(err)
		}
		memory, err := e.NewMemory()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.FullPass(t.Context(), w, c.by, memory); err != nil {
			t.Fatal(err)
		}
		μ := 1.
		if c.by.Mu > 0 {
			μ = c.by.Mu
		}
		block := nets.DenseBlocks(o.Scorer)[0]
		for y := range 4 {
			for k := range d.Dim {
				column := make([]float64, len(w))
				for j := range d.Dim {
					sum := 0.0
					for i := range d.Len() {
						for p := d.Offsets[i]; p < d.Offsets[i+1]; p++ {
							u := float64(memory.Parts[block.Part].Values[p*4+y])
							sum += d.Weights[i] * u * (1 - u) / μ * float64(d.Features[p*d.Dim+j]) * float64(d.Features[p*d.Dim+k])
						}
					}
					column[block.Offset+j*4+y] = sum / 5
				}
				at := block.Offset + k*4 + y
				column[at] += 0.3
				got := make([]float64, len(w))
				m.Solve(e, got, column)
				for j, x := range got {
					want := 0.0
					if j == at {
						want = 1
					}
					if math.Abs(x-want) > 1e-4 {
						t.Fatalf("%v: column %d, label %d: weight %d is %v, want %v", c.loss, k, y, j, x, want)
					}
				}
			}
		}
	}
}

// Inputs that break factorisations, or overflow, still give a metric with finite, positive steps, and the same bits with any number of threads.
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

// With more rows than the metric needs it takes some of them, which stand for all: the matrix keeps its size in every direction.
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
		// For the matrix H of all rows, of which each has the weight 3/16, the metric has ⟨x, P⁻¹Hx⟩ between ½|x|² and 2|x|² if P is like H.
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
				hx[block.Offset+j*4] += 3. / 16 * dot * float64(z) / float64(d.Len())
			}
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
