package tree_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/oracles/tree"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// each runs a check on both kinds of trees, with all kernels that this build and machine have.
func each(t *testing.T, check func(t *testing.T, form trees.SpanningTree, o *tree.Oracle)) {
	for _, name := range tree.Kernels() {
		for _, form := range []trees.SpanningTree{{}, {NonProjective: true}} {
			t.Run(form.Name()+", "+name, func(t *testing.T) {
				defer tree.Use(name)()
				check(t, form, tree.New(form.NonProjective))
			})
		}
	}
}

func TestContract(t *testing.T) {
	each(t, func(t *testing.T, form trees.SpanningTree, o *tree.Oracle) { oracletest.Run(t, registry.Of(form), o) })
}

// sentences draws potentials of sentences of n words each.
func sentences(form trees.SpanningTree, n, count, relations int) *structured.Potentials {
	rows, outputs := []int{0}, []int{0}
	for i := range count {
		rows, outputs = append(rows, (i+1)*n*n), append(outputs, 2*(i+1)*n)
	}
	θ := new(structured.Potentials)
	θ.Reshape(form.Form(relations), outputs, func(table string) []int {
		if table != trees.SiblingRows {
			return rows
		}
		siblings := make([]int, count+1)
		for i := range siblings {
			siblings[i] = i * trees.Siblings(n)
		}
		return siblings
	})
	r := rand.New(rand.NewPCG(1, 2))
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(r.NormFloat64())
		}
	}
	return θ
}

// Max, TopK and Exp agree on sentences too long to enumerate: the list begins with the max, descends, and sums to less
// than all outputs; the marginals of relations sum to those of their arcs.
func TestLong(t *testing.T) {
	long := func(t *testing.T, form trees.SpanningTree, o *tree.Oracle) {
		const n, count, relations, k = 60, 3, 7, 20
		θ := sentences(form, n, count, relations)
		y, value, sum := make([]int32, θ.OutputSize()), make([]float64, count), make([]float64, count)
		var best oracles.KBest
		var u structured.Marginals
		o.Max(θ, y, value)
		o.TopK(θ, k, &best)
		o.Exp(θ, 1, sum, &u)
		for b := range count {
			lo, hi := θ.Outputs[b], θ.Outputs[b+1]
			scores := best.Score[b*k : (b+1)*k]
			if best.Count[b] != k || math.Abs(scores[0]-value[b]) > 1e-4 ||
				!slices.IsSortedFunc(scores, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
				t.Fatalf("max %g, best %g", value[b], scores)
			}
			total := 0.0
			seen := map[string]bool{}
			for i, s := range scores {
				out := best.Output(i, lo, hi)
				seen[fmt.Sprint(out)] = true
				if err := trees.Check(out[:n]); err != nil || !form.NonProjective && !trees.Projective(out[:n]) ||
					s != θ.Score(b, out) {
					t.Fatalf("output %d of score %g: %v", i, s, err)
				}
				total += math.Exp(s - sum[b])
			}
			if len(seen) != k || total > 1 {
				t.Fatalf("%d different outputs of probability %g", len(seen), total)
			}
			for i, p := range u.Parts[0].Of(b) {
				sum := 0.0
				for _, q := range u.Parts[1].Of(b)[i*relations : (i+1)*relations] {
					sum += float64(q)
				}
				if math.Abs(sum-float64(p)) > 1e-6 {
					t.Fatalf("arc %d has probability %g, its relations %g", i, p, sum)
				}
			}
		}
	}
	each(t, long)
	t.Run("siblings", func(t *testing.T) { long(t, trees.SpanningTree{Siblings: true}, tree.NewSiblings()) })
}

// Max on marginals finds the tree with the largest expected number of correct heads and relations.
func TestMinimumRisk(t *testing.T) {
	each(t, func(t *testing.T, form trees.SpanningTree, o *tree.Oracle) {
		const n, count = 3, 10
		θ := sentences(form, n, count, 2)
		var u structured.Marginals
		o.Exp(θ, 1, make([]float64, count), &u)
		for b := range count {
			var one structured.Potentials
			u.AsPotentials(b, 2*n, &one)
			y, value := make([]int32, 2*n), make([]float64, 1)
			o.Max(&one, y, value)
			expected := func(guess []int32) (right float64) {
				form.Each(θ, b, func(gold []int32) {
					for d := range n {
						if gold[d] != guess[d] {
							continue
						}
						right += math.Exp(θ.Score(b, gold))
						if gold[n+d] == guess[n+d] {
							right += math.Exp(θ.Score(b, gold))
						}
					}
				})
				return right
			}
			most := 0.0
			form.Each(θ, b, func(guess []int32) { most = max(most, expected(guess)) })
			if got := expected(y); got < most*(1-1e-6) {
				t.Errorf("%v has %g right, the best %g", y, got, most)
			}
		}
	})
}

// The oracle does not allocate once scratch memory has grown.
func TestAllocations(t *testing.T) {
	each(t, func(t *testing.T, form trees.SpanningTree, o *tree.Oracle) {
		θ := sentences(form, 17, 4, 5)
		y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
		var best oracles.KBest
		var u structured.Marginals
		var samples oracles.Samples
		seed := []uint64{1, 2, 3, 4}
		for name, ask := range map[string]func(){
			"Max": func() { o.Max(θ, y, value) }, "TopK": func() { o.TopK(θ, 6, &best) },
			"Exp":    func() { o.Exp(θ, 0.5, value, &u) },
			"Sample": func() { o.Sample(θ, 0.5, 6, seed, &samples) },
		} {
			if n := testing.AllocsPerRun(20, ask); n > 0 {
				t.Errorf("%s allocates %g times", name, n)
			}
		}
	})
}

// Sentences per second with relations.
func BenchmarkOracle(b *testing.B) {
	for _, form := range []trees.SpanningTree{{}, {NonProjective: true}, {Siblings: true}} {
		for _, relations := range []int{1, 40} {
			const count = 16
			θ, o := sentences(form, 25, count, relations), tree.New(form.NonProjective)
			if form.Siblings {
				o = tree.NewSiblings()
			}
			y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
			var best oracles.KBest
			var u structured.Marginals
			seed, samples := make([]uint64, count), oracles.Samples{}
			run := func(what string, ask func()) {
				b.Run(fmt.Sprintf("%s/%s/R=%d", form.Name(), what, relations), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						ask()
					}
					b.ReportMetric(float64(count*b.N)/b.Elapsed().Seconds(), "sentences/s")
				})
			}
			run("max", func() { o.Max(θ, y, value) })
			run("top-5", func() { o.TopK(θ, 5, &best) })
			run("exp", func() { o.Exp(θ, 1, value, &u) })
			run("10 samples", func() { o.Sample(θ, 1, 10, seed, &samples) })
		}
	}
}
