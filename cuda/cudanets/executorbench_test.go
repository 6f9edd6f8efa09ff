package cudanets_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// BenchmarkExecutor times scores and the gradient of an mlp 300→200→25 over 65536 positions.
func BenchmarkExecutor(b *testing.B) {
	d := cudatest.Device(b)
	positions := 65536
	if d.Info().Emulated() {
		positions = 64
	}
	input := graph.Input{Dim: 300}
	net, err := nets.New(nets.Config{Net: "mlp", Hidden: []int{200}}, input, 25)
	cudatest.Must(b, err)
	rng := rand.New(rand.NewPCG(1, 1))
	lengths := make([]int, positions/32)
	for i := range lengths {
		lengths[i] = 32
	}
	r := newRig(b, d, net, cudatest.RandomData(rng, input, 25, lengths...), graph.Bucket(positions))
	examples := make([]int, len(lengths))
	for i := range examples {
		examples[i] = i
	}
	r.batch.Set(examples)
	e := r.executor()
	w, grad := r.upload(net.Init(1)), r.upload(make([]float32, net.Dim()))
	var batch structured.Batch
	batch.Reset(r.data, examples)
	_, node, edge := r.cotangent(&batch)
	step := d.Capture(func() {
		e.Score(w, r.batch, r.θ.Parts())
		e.Pullback(cudanets.Parts{node, edge}, grad)
	})
	d.Replay(step)
	cudatest.Must(b, d.Sync())
	for b.Loop() {
		d.Replay(step)
		cudatest.Must(b, d.Sync())
	}
	b.ReportMetric(float64(positions)*float64(b.N)/b.Elapsed().Seconds(), "positions/s")
}
