package chain

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// benchChains returns 64 chains of length 50, or fewer and shorter ones of many labels.
func benchChains(y int, perPosition bool) *structured.Potentials {
	r := rand.New(rand.NewPCG(uint64(y), 1))
	offsets, examples, length := []int{0}, 64, 50
	if y > 500 {
		examples, length = 4, 12
	}
	for range examples {
		offsets = append(offsets, offsets[len(offsets)-1]+length)
	}
	θ := new(structured.Potentials)
	chains.Resize(θ, offsets, y, perPosition)
	for k := range θ.Parts {
		x := θ.Parts[k].Values
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
	}
	return θ
}

// benchmark reports sequences/s of an oracle call on batches with label sets of several sizes.
func benchmark(b *testing.B, perPosition bool, call func(c *Oracle, θ *structured.Potentials)) {
	for _, y := range []int{9, 25, 26, 128, 1000} {
		b.Run(fmt.Sprintf("Y=%d", y), func(b *testing.B) {
			c, θ := New(), benchChains(y, perPosition)
			b.ReportAllocs()
			for b.Loop() {
				call(c, θ)
			}
			b.ReportMetric(float64(b.N*θ.Len())/b.Elapsed().Seconds(), "sequences/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func BenchmarkMax(b *testing.B) {
	labels, value := make([]int32, 64*50), make([]float64, 64)
	for _, perPosition := range []bool{false, true} {
		b.Run(fmt.Sprintf("per position %v", perPosition), func(b *testing.B) {
			benchmark(b, perPosition, func(c *Oracle, θ *structured.Potentials) { c.Max(θ, labels, value) })
		})
	}
}

func BenchmarkTopK(b *testing.B) {
	var best oracles.KBest
	for _, k := range []int{2, 5, 10} {
		b.Run(fmt.Sprintf("K=%d", k), func(b *testing.B) {
			benchmark(b, false, func(c *Oracle, θ *structured.Potentials) { c.TopK(θ, k, &best) })
		})
	}
}

func BenchmarkExp(b *testing.B) {
	value, u := make([]float64, 64), new(structured.Marginals)
	for _, μ := range []float64{1, 0.1, 0.01} {
		b.Run(fmt.Sprintf("mu=%g", μ), func(b *testing.B) {
			benchmark(b, false, func(c *Oracle, θ *structured.Potentials) { c.Exp(θ, μ, value, u) })
		})
	}
	b.Run("mu=1, per position", func(b *testing.B) {
		benchmark(b, true, func(c *Oracle, θ *structured.Potentials) { c.Exp(θ, 1, value, u) })
	})
}

// Ten samples of each chain, with all sums that they need.
func BenchmarkSample(b *testing.B) {
	seed, samples := make([]uint64, 64), new(oracles.Samples)
	for _, perPosition := range []bool{false, true} {
		b.Run(fmt.Sprintf("per position %v", perPosition), func(b *testing.B) {
			benchmark(b, perPosition, func(c *Oracle, θ *structured.Potentials) { c.Sample(θ, 1, 10, seed, samples) })
		})
	}
}
