package segment_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/segment"
	"github.com/dsp-go/dsp/structured"
)

// benchmark reports sequences/s of an oracle call on 32 sequences of 100 positions, with 10 labels and segments of at
// most 10 positions, with or without scores of whole segments.
func benchmark(b *testing.B, whole bool, call func(o *segment.Oracle, θ *structured.Potentials)) {
	θ := draw(32, 100, 20, 10, 0, whole)
	for _, name := range segment.Kernels() {
		b.Run(name, func(b *testing.B) {
			o := segment.NewOf(name)
			b.ReportAllocs()
			for b.Loop() {
				call(o, θ)
			}
			b.ReportMetric(float64(b.N*θ.Len())/b.Elapsed().Seconds(), "sequences/s")
		})
	}
}

func BenchmarkMax(b *testing.B) {
	y, value := make([]int32, 3200), make([]float64, 32)
	benchmark(b, false, func(o *segment.Oracle, θ *structured.Potentials) { o.Max(θ, y, value) })
}

func BenchmarkExp(b *testing.B) {
	value, u := make([]float64, 32), new(structured.Marginals)
	benchmark(b, false, func(o *segment.Oracle, θ *structured.Potentials) { o.Exp(θ, 1, value, u) })
}

func BenchmarkMaxWhole(b *testing.B) {
	y, value := make([]int32, 3200), make([]float64, 32)
	benchmark(b, true, func(o *segment.Oracle, θ *structured.Potentials) { o.Max(θ, y, value) })
}

func BenchmarkExpWhole(b *testing.B) {
	value, u := make([]float64, 32), new(structured.Marginals)
	benchmark(b, true, func(o *segment.Oracle, θ *structured.Potentials) { o.Exp(θ, 1, value, u) })
}

func BenchmarkTopK(b *testing.B) {
	best := new(oracles.KBest)
	benchmark(b, false, func(o *segment.Oracle, θ *structured.Potentials) { o.TopK(θ, 10, best) })
}

// BenchmarkDocument times sums over a document of 100,000 positions, with segments of at most 50.
func BenchmarkDocument(b *testing.B) {
	θ, o := draw(1, 100_000, 20, 50, 0, false), segment.New()
	value, u := make([]float64, 1), new(structured.Marginals)
	b.ReportAllocs()
	for b.Loop() {
		o.Exp(θ, 1, value, u)
	}
}
