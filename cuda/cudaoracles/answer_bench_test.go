package cudaoracles_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/chains"
)

// BenchmarkAnswer times smoothed oracles on chains of 64 positions, from captured graphs. Each does at least B·T·Y²
// multiply-adds, or additions and maxima; see the kernels for their bounds.
func BenchmarkAnswer(b *testing.B) {
	d := cudatest.Device(b)
	for _, size := range []struct {
		chains, labels int
		perPosition    bool
	}{{4096, 32, false}, {4096, 10, false}, {1024, 64, false}, {512, 128, false}, {64, 512, false},
		{4096, 32, true}, {256, 128, true}} {
		if d.Info().Emulated() {
			size.chains = max(1, size.chains/256)
		}
		r := rand.New(rand.NewPCG(1, 1))
		θ := drawChains(r, slices.Repeat([]int{64}, size.chains), size.labels, size.perPosition, 1, 0)
		x := newBatch(d, θ, nil, chains.Hamming{})
		for _, s := range []oracles.Smoothing{{Kind: oracles.None}, {Kind: oracles.L2, Mu: 1, K: 5},
			{Kind: oracles.L2, Mu: 1},
			{Kind: oracles.Entropy, Mu: 1}, {Kind: oracles.Entropy, Mu: 1e-2}} {
			x.o.ReserveAnswer(&x.θ, s)
			graph := d.Capture(func() { x.o.Answer(&x.θ, cudaoracles.Augmentation{}, s, &x.out, false) })
			name := fmt.Sprintf("B=%d,Y=%d,per position %v/%v,K=%d,mu=%g", size.chains, size.labels, size.perPosition, s.Kind,
				s.K, s.Mu)
			b.Run(name, func(b *testing.B) {
				d.Replay(graph)
				begin := d.Record()
				for b.Loop() {
					d.Replay(graph)
				}
				cudatest.Must(b, d.Sync())
				b.ReportMetric(float64(d.Record().Since(begin).Nanoseconds())/float64(b.N)/1e3, "µs/op")
			})
			graph.Free()
		}
		x.o.Free()
	}
}
