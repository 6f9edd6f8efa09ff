package cuda_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// BenchmarkObjective is the parts of a full pass and of a step of 16 examples, from captured graphs, for a crf over chains of 24
// positions with 30 attributes each of 300,000, and 23 labels: chunking.
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
	c.Data, c.net = sparseCase(b, rng, 23, attributes, 0, nets.EdgesTransition, false, lengths...)
	c.Data.Attributes = sparseInputs(rng, c.Data.Positions(), attributes, 60, false)
	c.Scorer, c.Loss = c.net, engine.CRF
	c.w = normals(rng, c.net.Dim())
	c.to = c.w
	for _, size := range []struct {
		name     string
		examples []int
	}{{"pass", rng.Perm(n)}, {"step", rng.Perm(n)[:16]}} {
		x := c.onDevice(b, d, len(size.examples), nets.Bucket(24*len(size.examples)))
		x.lane.Batch.Set(size.examples)
		memory := x.o.NewMemory()
		for _, part := range []struct {
			name    string
			enqueue func()
		}{
			{"score", func() { x.lane.Score(x.w) }},
			{"ask", func() { x.lane.Ask(x.w, oracles.Smoothing{}, false) }}, // with the score
			{"gold", func() { x.lane.Difference(nil) }},
			{"difference", func() { x.lane.Difference(memory) }},
			{"pullback", func() { x.lane.Pullback(x.grad) }},
			{"remember", func() { memory.Remember(x.lane, 0.5) }},
		} {
			part.enqueue() // what the parts after it take
			graph := d.Capture(part.enqueue)
			b.Run(size.name+"/"+part.name, func(b *testing.B) {
				begin := d.Record()
				for b.Loop() {
					d.Replay(graph)
				}
				must(b, d.Sync())
				b.ReportMetric(float64(d.Record().Since(begin).Nanoseconds())/float64(b.N)/1e3, "µs/op")
			})
			graph.Free()
		}
	}
}
