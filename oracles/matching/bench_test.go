package matching_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/matching"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/matchings"
)

// normal draws count examples of n sources and m targets with normal scores.
func normal(s matchings.Matching, n, m, count int) *structured.Potentials {
	sources, targets := make([]int, count), make([]int, count)
	for b := range sources {
		sources[b], targets[b] = n, m
	}
	θ := new(structured.Potentials)
	s.Resize(θ, sources, targets)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(r.NormFloat64())
		}
	}
	return θ
}

// Matchings per second at several sizes. bench/assignment.py compares Max of complete matchings with other programs.
func BenchmarkMatching(b *testing.B) {
	for _, s := range []matchings.Matching{{}, {Complete: true}} {
		for _, n := range []int{20, 100, 1000} {
			count := max(1, 2000/n)
			θ, o := normal(s, n, n, count), matching.New()
			y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
			var best oracles.KBest
			var m oracles.MaxMarginals
			run := func(what string, ask func()) {
				b.Run(fmt.Sprintf("%s/%s/n=%d", s.Name(), what, n), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						ask()
					}
					b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(count*b.N), "µs/matching")
				})
			}
			run("max", func() { o.Max(θ, y, value) })
			if n > 100 {
				continue
			}
			run("max-marginals", func() { o.MaxMarginals(θ, y, value, &m) })
			run("top-5", func() { o.TopK(θ, 5, &best) })
		}
	}
}
