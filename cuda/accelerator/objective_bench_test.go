package accelerator_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// BenchmarkObjective times the parts of a full pass and of a step on 16 examples, from captured graphs. The objective
// is a crf for chunking: chains of 24 positions, 23 labels, and 30 of 300,000 attributes per position.
func BenchmarkObjective(b *testing.B) {
	d := cudatest.Device(b)
	n, attributes := 8192, 300000
	if d.Info().Emulated() {
		n, attributes = 64, 3000
	}
	lengths := make([]int, n)
	for i := range lengths {
		lengths[i] = 24
	}
	rng := rand.New(rand.NewPCG(1, 1))
	c := &lossCase{}
	c.Data, c.net = cudatest.SparseCase(b, rng, 23, attributes, 0, nets.EdgesTransition, false, lengths...)
	c.Data.Attributes = cudatest.SparseInputs(rng, c.Data.Positions(), attributes, 60, false)
	c.Scorer, c.Loss = c.net, engine.CRF
	c.w = cudatest.Vector(rng, c.net.Dim(), 1)
	c.to = c.w
	for _, size := range []struct {
		name     string
		examples []int
	}{{"pass", rng.Perm(n)}, {"step", rng.Perm(n)[:16]}} {
		x := c.onDevice(b, d, len(size.examples), graph.Bucket(24*len(size.examples)))
		x.evaluation.Batch.Set(size.examples)
		memory := x.o.NewMemory()
		for _, part := range []struct {
			name    string
			enqueue func()
		}{
			{"score", func() { x.evaluation.Score(x.w) }},
			{"ask", func() { x.evaluation.Ask(x.w, oracles.Smoothing{}, false) }}, // with the score
			{"gold", func() { x.evaluation.Difference(nil) }},
			{"difference", func() { x.evaluation.Difference(memory) }},
			{"pullback", func() { x.evaluation.Pullback(x.grad) }},
			{"remember", func() { x.evaluation.Remember(memory, 0.5) }},
		} {
			part.enqueue() // what the parts after it take
			graph := d.Capture(part.enqueue)
			b.Run(size.name+"/"+part.name, func(b *testing.B) {
				begin := d.Record()
				for b.Loop() {
					d.Replay(graph)
				}
				cudatest.Must(b, d.Sync())
				b.ReportMetric(float64(d.Record().Since(begin).Nanoseconds())/float64(b.N)/1e3, "µs/op")
			})
			graph.Free()
		}
	}
}
