package chart_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/monotone"
	"github.com/dsp-go/dsp/structured/pcfg"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/trees"
)

// The reference that a structure declares satisfies the contract as an oracle of its own.
func TestContract(t *testing.T) {
	for _, k := range registry.All {
		if _, is := k.Oracle().(*chart.Oracle); k.Chart != nil && !is { // else the contract of the kind is that of its chart
			t.Run(k.Name(), func(t *testing.T) { oracletest.Run(t, k, chart.New(k.Chart)) })
		}
	}
}

// long are forms of examples that are too long to enumerate, of each kind with kernels.
var long = map[string]func(r *rand.Rand) *structured.Potentials{
	"chain": func(r *rand.Rand) *structured.Potentials {
		θ := new(structured.Potentials)
		chains.Resize(θ, []int{0, 1, 120, 180}, 6, r.IntN(2) == 0)
		return θ
	},
	"second-order chain": func(r *rand.Rand) *structured.Potentials {
		θ := new(structured.Potentials)
		steps := chains.NewSteps(4, func(yield func(y []int32) bool) {
			for i := range int32(64) {
				if r.IntN(3) > 0 && !yield([]int32{i / 16, i / 4 % 4, i % 4}) {
					return
				}
			}
		})
		offsets := []int{0, 2, 60}
		θ.Reshape(chains.SecondForm(steps), offsets, func(string) []int { return offsets })
		return θ
	},
	"segmentation": func(r *rand.Rand) *structured.Potentials {
		θ := new(structured.Potentials)
		offsets, longest := []int{0, 3, 70, 71}, 1+r.IntN(9)
		form := segments.Form(1+r.IntN(7), longest, segments.Optional{
			Ends: r.IntN(2) == 0, Whole: r.IntN(2) == 0, PerPosition: r.IntN(2) == 0,
		})
		θ.Reshape(form, offsets, func(table string) []int {
			if table == segments.Rows {
				return segments.Offsets(offsets, longest)
			}
			return offsets
		})
		return θ
	},
	"projective tree": func(*rand.Rand) *structured.Potentials { return longTree(trees.SpanningTree{}, 24) },
	"projective tree with siblings": func(*rand.Rand) *structured.Potentials {
		return longTree(trees.SpanningTree{Siblings: true}, 18)
	},
	"constituent tree": func(*rand.Rand) *structured.Potentials {
		θ, offsets := new(structured.Potentials), []int{0, 1, 1 + 20*20}
		θ.Reshape(constituents.Form(4), offsets, func(string) []int { return offsets })
		return θ
	},
	"PCFG": func(r *rand.Rand) *structured.Potentials {
		const n = 12
		θ, pairs := new(structured.Potentials), []int{0, 1, 1 + n*n}
		θ.Reshape(pcfg.Form(2+r.IntN(3), 3, r.IntN(2) == 0), pairs, func(table string) []int {
			switch table {
			case constituents.SpanRows:
				return pairs
			case structured.Examples:
				return []int{0, 1, 2}
			}
			return []int{0, 1, 1 + n}
		})
		return θ
	},
	"monotone alignment": func(*rand.Rand) *structured.Potentials {
		const n, m = 30, 22
		θ := new(structured.Potentials)
		θ.Reshape(monotone.Alignment{}.Form(), []int{0, monotone.Numbers(n, m)}, func(table string) []int {
			return map[string][]int{structured.Pairs: {0, n * m}, structured.Sources: {0, n}}[table]
		})
		return θ
	},
}

func longTree(tree trees.SpanningTree, n int) *structured.Potentials {
	θ := new(structured.Potentials)
	θ.Reshape(tree.Form(3), []int{0, 2 * n}, func(table string) []int {
		if table == trees.SiblingRows {
			return []int{0, trees.Siblings(n)}
		}
		return []int{0, n * n}
	})
	return θ
}

// Kernels answer as the references do on long examples, some of whose potentials are −∞: best outputs, the K best,
// sums, and marginals. Where sums are exact, they find the same best output among those that tie.
func TestKernelsAgainstCharts(t *testing.T) {
	for _, k := range registry.All {
		form := long[k.Name()]
		if form == nil {
			if _, is := k.Oracle().(*chart.Oracle); k.Chart != nil && !is {
				t.Errorf("%s declares a chart, and has no long examples", k.Name())
			}
			continue
		}
		t.Run(k.Name(), rapid.MakeCheck(func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
			scale, forbidden, whole := math.Exp(4*r.Float64()-2), 0.03*r.Float64(), r.IntN(3) == 0
			θ := form(r)
			for k := range θ.Parts {
				for i := range θ.Parts[k].Values {
					x := scale * r.NormFloat64()
					if whole { // many outputs tie
						x = math.Round(x)
					}
					if r.Float64() < forbidden {
						x = math.Inf(-1)
					}
					θ.Parts[k].Values[i] = float32(x)
				}
			}
			against(t, θ, whole, k.Oracle(), chart.New(k.Chart))
		}))
	}
}

// against compares the answers of a kernel with those of a reference.
func against(t *rapid.T, θ *structured.Potentials, exact bool, kernel, reference oracles.Maximiser) {
	const k, μ = 4, 0.7
	var y, value, sum, list = [2][]int32{}, [2][]float64{}, [2][]float64{}, [2]oracles.KBest{}
	var u [2]structured.Marginals
	for i, o := range []oracles.Oracle{kernel.(oracles.Oracle), reference.(oracles.Oracle)} {
		y[i], value[i], sum[i] = make([]int32, θ.OutputSize()), make([]float64, θ.Len()), make([]float64, θ.Len())
		o.Max(θ, y[i], value[i])
		o.Exp(θ, μ, sum[i], &u[i])
		o.TopK(θ, k, &list[i])
	}
	if exact && !slices.Equal(y[0], y[1]) {
		t.Fatalf("the best output is %v, want %v", y[0], y[1])
	}
	for b := range θ.Len() {
		error := oracles.Rounding(kernel, θ, b, 0) + oracles.Rounding(reference, θ, b, 0)
		oracletest.Near(t, "best score", value[0][b], value[1][b], error)
		if list[0].Count[b] != list[1].Count[b] {
			t.Fatalf("%d best outputs, want %d", list[0].Count[b], list[1].Count[b])
		}
		for n := range list[0].Count[b] {
			oracletest.Near(t, fmt.Sprintf("score %d", n), list[0].Score[b*k+n], list[1].Score[b*k+n], error+1e-9)
		}
		error = oracles.Rounding(kernel, θ, b, μ) + oracles.Rounding(reference, θ, b, μ)
		oracletest.Near(t, "sum", sum[0][b], sum[1][b], error)
	}
	oracletest.NearMarginals(t, "marginal", &u[0], &u[1], 1e-4*float64(1+θ.OutputSize())/10)
}

// The references' own bounds on rounding are of use, too: errors reach a share of each.
func TestRoundingOfCharts(t *testing.T) {
	for _, k := range registry.All {
		if k.Chart != nil {
			_, ofExp := oracletest.RoundingShares(k, chart.New(k.Chart))
			if ofExp < 0.03 || ofExp > 0.5 {
				t.Errorf("%s: errors of sums take %.2g of the bound", k.Name(), ofExp)
			}
		}
	}
}
