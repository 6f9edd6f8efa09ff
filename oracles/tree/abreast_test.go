package tree_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles/tree"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// A sentence has the same bits alone and in a batch, whose sentences of one length are summed abreast: also beside
// sentences without a tree, with invalid scores, with a token that must be under the root, and with sums beyond the
// range of float64.
func TestAbreast(t *testing.T) {
	form := trees.SpanningTree{NonProjective: true}
	inf := float32(math.Inf(-1))
	for _, name := range tree.Kernels() {
		t.Run(name, func(t *testing.T) {
			defer tree.Use(name)()
			r := rand.New(rand.NewPCG(3, 4))
			for _, relations := range []int{1, 3} {
				for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 16, 17, 21, 25, 30, 40, 65} {
					for kind := range 5 {
						θ := sentences(form, n, 12, relations)
						row := func(b, d int) []float32 { return θ.Parts[0].Of(b)[d*n : (d+1)*n] }
						for b := range 12 {
							for d := range n {
								if h := r.IntN(n); n > 2 && r.IntN(3) == 0 {
									row(b, d)[h] = inf
								}
							}
						}
						d := r.IntN(n)
						switch other := row(3, d); kind {
						case 1: // no head
							for h := range other {
								other[h] = inf
							}
						case 2: // the root alone
							for h := range other {
								if h != d {
									other[h] = inf
								}
							}
						case 3:
							other[0] = float32(math.NaN())
						case 4: // cycles are probable
							for d := range n {
								for h := range n {
									row(3, d)[h] *= 1000
								}
							}
						}
						same(t, fmt.Sprintf("%d words, %d relations, kind %d", n, relations, kind), θ, n, relations)
					}
				}
			}
		})
	}
}

// same compares a batch with its sentences alone.
func same(t *testing.T, name string, θ *structured.Potentials, n, relations int) {
	t.Helper()
	all, only := make([]float64, θ.Len()), make([]float64, θ.Len())
	var u, v structured.Marginals
	o := tree.New(true)
	o.Exp(θ, 0.7, all, &u)
	o.Exp(θ, 0.7, only, nil)
	for b := range θ.Len() {
		one := sentences(trees.SpanningTree{NonProjective: true}, n, 1, relations)
		for k := range one.Parts {
			copy(one.Parts[k].Values, θ.Parts[k].Of(b))
		}
		value := make([]float64, 1)
		o.Exp(one, 0.7, value, &v)
		bits := math.Float64bits(value[0])
		if math.Float64bits(all[b]) != bits || math.Float64bits(only[b]) != bits {
			t.Fatalf("%s: sentence %d has %v alone, %v in the batch, and %v without marginals", name, b,
				value[0], all[b], only[b])
		}
		for k := range u.Parts {
			if !slices.EqualFunc(u.Parts[k].Of(b), v.Parts[k].Of(0), func(x, y float32) bool {
				return math.Float32bits(x) == math.Float32bits(y)
			}) {
				t.Fatalf("%s: sentence %d has other marginals in the batch: %v, alone %v", name, b,
					u.Parts[k].Of(b), v.Parts[k].Of(0))
			}
		}
	}
}

// A batch of sentences of one length.
func BenchmarkBatch(b *testing.B) {
	for _, form := range []trees.SpanningTree{{}, {NonProjective: true}} {
		for _, n := range []int{10, 30, 60} {
			b.Run(fmt.Sprintf("%s/n=%d", form.Name(), n), func(b *testing.B) {
				θ := sentences(form, n, 64, 1)
				o, value := tree.New(form.NonProjective), make([]float64, θ.Len())
				var u structured.Marginals
				for b.Loop() {
					o.Exp(θ, 1, value, &u)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*θ.Len()), "µs/sentence")
			})
		}
	}
}
