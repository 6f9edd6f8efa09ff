package chart_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// BenchmarkKernelAndChart asks kernels and references the same questions about long examples, by turns.
func BenchmarkKernelAndChart(b *testing.B) {
	for _, k := range registry.All {
		form := long[k.Name()]
		if form == nil {
			continue
		}
		r := rand.New(rand.NewPCG(5, 1))
		θ := form(r)
		for k := range θ.Parts {
			for i := range θ.Parts[k].Values {
				θ.Parts[k].Values[i] = float32(r.NormFloat64())
			}
		}
		y, value, seeds := make([]int32, θ.OutputSize()), make([]float64, θ.Len()), make([]uint64, θ.Len())
		u, best, s := new(structured.Marginals), new(oracles.KBest), new(oracles.Samples)
		for _, q := range []struct {
			name string
			ask  func(o oracles.Maximiser)
		}{
			{"max", func(o oracles.Maximiser) { o.Max(θ, y, value) }},
			{"exp", func(o oracles.Maximiser) { o.(oracles.Summer).Exp(θ, 1, value, u) }},
			{"top10", func(o oracles.Maximiser) { o.(oracles.Ranker).TopK(θ, 10, best) }},
			{"sample100", func(o oracles.Maximiser) { o.(oracles.Sampler).Sample(θ, 1, 100, seeds, s) }},
		} {
			for i, o := range []oracles.Maximiser{k.Oracle(), chart.New(k.Chart)} {
				b.Run(k.Name()+"/"+q.name+"/"+[]string{"kernel", "chart"}[i], func(b *testing.B) {
					for b.Loop() {
						q.ask(o)
					}
				})
			}
		}
	}
}
