package monotone_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles"
	align "github.com/dsp-go/dsp/oracles/monotone"
	"github.com/dsp-go/dsp/structured"
)

// benchmark reports pairs of items/s of an oracle call on 16 alignments of 100 by 100 items.
func benchmark(b *testing.B, call func(o *align.Oracle, θ *structured.Potentials)) {
	θ := draw(16, 100, 100, 0)
	for _, name := range align.Kernels() {
		b.Run(name, func(b *testing.B) {
			o := align.NewOf(name)
			b.ReportAllocs()
			for b.Loop() {
				call(o, θ)
			}
			b.ReportMetric(float64(b.N*len(θ.Parts[0].Values))/b.Elapsed().Seconds(), "pairs/s")
		})
	}
}

func BenchmarkMax(b *testing.B) {
	y, value := make([]int32, 16*199), make([]float64, 16)
	benchmark(b, func(o *align.Oracle, θ *structured.Potentials) { o.Max(θ, y, value) })
}

func BenchmarkExp(b *testing.B) {
	value, u := make([]float64, 16), new(structured.Marginals)
	benchmark(b, func(o *align.Oracle, θ *structured.Potentials) { o.Exp(θ, 1, value, u) })
}

func BenchmarkTopK(b *testing.B) {
	best := new(oracles.KBest)
	benchmark(b, func(o *align.Oracle, θ *structured.Potentials) { o.TopK(θ, 10, best) })
}

func BenchmarkSample(b *testing.B) {
	var s oracles.Samples
	seed := make([]uint64, 16)
	benchmark(b, func(o *align.Oracle, θ *structured.Potentials) { o.Sample(θ, 1, 10, seed, &s) })
}
