package constituent_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/constituent"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
)

func TestContract(t *testing.T) {
	oracletest.Run(t, registry.Of(constituents.Tree{}), constituent.New())
}

// sentences draws potentials of sentences of n words.
func sentences(count, n, labels int) *structured.Potentials {
	offsets := []int{0}
	for i := range count {
		offsets = append(offsets, (i+1)*n*n)
	}
	θ := new(structured.Potentials)
	θ.Reshape(constituents.Form(labels), offsets, func(string) []int { return offsets })
	r := rand.New(rand.NewPCG(uint64(n), 7))
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(r.NormFloat64())
		}
	}
	return θ
}

// A sentence none of whose trees is allowed has the value −∞ and no output, of one word as of several.
func TestNoTree(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		θ, o := sentences(1, n, 2), constituent.New()
		whole := θ.Parts[1].Of(0)[(n-1)*3:][:3] // the labels of the span of all words
		whole[1], whole[2] = float32(math.Inf(-1)), float32(math.Inf(-1))
		y, value, sum := make([]int32, n*n), make([]float64, 1), make([]float64, 1)
		for k := range y {
			y[k] = 7
		}
		o.Max(θ, y, value)
		o.Exp(θ, 1, sum, nil)
		var list oracles.KBest
		o.TopK(θ, 2, &list)
		if !math.IsInf(value[0], -1) || !math.IsInf(sum[0], -1) || list.Count[0] != 0 ||
			slices.ContainsFunc(y, func(l int32) bool { return l != 0 }) {
			t.Errorf("%d words: value %g, sum %g, %d trees, output %v", n, value[0], sum[0], list.Count[0], y)
		}
	}
}

// Max, TopK and Exp agree on sentences too long to enumerate: the list begins with the max, descends, and has no tree
// twice; a tree has 2n − 1 spans, and the marginals of labels sum to those of their spans.
func TestLong(t *testing.T) {
	const count, n, labels, k = 2, 45, 6, 30
	θ, o := sentences(count, n, labels), constituent.New()
	y, value, sum := make([]int32, θ.OutputSize()), make([]float64, count), make([]float64, count)
	var best oracles.KBest
	var u structured.Marginals
	o.Max(θ, y, value)
	o.TopK(θ, k, &best)
	o.Exp(θ, 0.5, sum, &u)
	for b := range count {
		lo, hi := θ.Outputs[b], θ.Outputs[b+1]
		score, seen := best.Score[b*k:(b+1)*k], map[string]bool{}
		for i := range k {
			seen[fmt.Sprint(best.Output(i, lo, hi))] = true
			if i > 0 && score[i] > score[i-1] {
				t.Errorf("score %g after %g", score[i], score[i-1])
			}
		}
		if len(seen) != k || score[0] != value[b] || sum[b] < value[b] {
			t.Errorf("%d different trees, the best with %g; max %g, sum %g", len(seen), score[0], value[b], sum[b])
		}
		spans := 0.0
		for row, p := range u.Parts[0].Of(b) {
			total := 0.0
			for _, q := range u.Parts[1].Of(b)[row*(labels+1) : (row+1)*(labels+1)] {
				total += float64(q)
			}
			oracletest.Near(t, "probability of the labels of a span", total, float64(p), 1e-5)
			spans += float64(p)
		}
		oracletest.Near(t, "spans", spans, 2*n-1, 1e-3)
	}
}

// benchmark reports sentences/s of an oracle call on 8 sentences of 40 words with 20 labels.
func benchmark(b *testing.B, call func(o *constituent.Oracle, θ *structured.Potentials)) {
	θ, o := sentences(8, 40, 20), constituent.New()
	b.ReportAllocs()
	for b.Loop() {
		call(o, θ)
	}
	b.ReportMetric(float64(b.N*θ.Len())/b.Elapsed().Seconds(), "sentences/s")
}

func BenchmarkMax(b *testing.B) {
	y, value := make([]int32, 8*1600), make([]float64, 8)
	benchmark(b, func(o *constituent.Oracle, θ *structured.Potentials) { o.Max(θ, y, value) })
}

func BenchmarkExp(b *testing.B) {
	value, u := make([]float64, 8), new(structured.Marginals)
	benchmark(b, func(o *constituent.Oracle, θ *structured.Potentials) { o.Exp(θ, 1, value, u) })
}

func BenchmarkTopK(b *testing.B) {
	best := new(oracles.KBest)
	benchmark(b, func(o *constituent.Oracle, θ *structured.Potentials) { o.TopK(θ, 10, best) })
}
