package nets

import (
	"math/rand/v2"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// ownCase is a network with an op of the user's own, x·s for a vector s that all rows share, and a batch.
func ownCase(t testing.TB, rows int) (w *NetWorker, weights []float32, batch *structured.Batch) {
	times := graph.RowOp{
		Name: "times", Width: 4,
		Forward: func(x [][]float32, y []float32) {
			for j, v := range x[0] {
				y[j] = v * x[1][j]
			}
		},
		Pullback: func(x [][]float32, _, dy []float32, dx [][]float32) {
			for j, v := range dy {
				dx[0][j] += v * x[1][j]
				dx[1][j] += v * x[0][j]
			}
		},
		Push: func(x, dx [][]float32, _, dy []float32) {
			for j := range dy {
				dy[j] = dx[0][j]*x[1][j] + x[0][j]*dx[1][j]
			}
		},
	}
	net, err := Build(ownSpec(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Own(times, x, g.Param("bias"))) }), graph.Input{Dim: 3})
	must(t, err)
	batch = new(structured.Batch)
	batch.Reset(net.Draw(rand.New(rand.NewPCG(1, 2)), rows), []int{0})
	return net.NewNetWorker(), randomVector(rand.New(rand.NewPCG(3, 4)), net.Dim(), 1), batch
}

// A step with an own op allocates nothing once it is warm.
func TestOwnOpAllocatesNothing(t *testing.T) {
	worker, w, batch := ownCase(t, 50)
	var θ, tangent structured.Potentials
	v := randomMarginals(rand.New(rand.NewPCG(5, 6)), batch, worker.net.Form())
	grad := make([]float32, len(w))
	step := func() {
		must(t, worker.Score(w, batch, &θ))
		must(t, worker.Pullback(v, grad))
		must(t, worker.PushForward(w, &tangent))
	}
	step()
	if n := testing.AllocsPerRun(10, step); n > 0 {
		t.Errorf("%v allocations in a step", n)
	}
}

// A step (forward and pullback) of an own op on 4096 rows of 4 numbers.
func BenchmarkOwnOp(b *testing.B) {
	worker, w, batch := ownCase(b, 4096)
	var θ structured.Potentials
	v := randomMarginals(rand.New(rand.NewPCG(5, 6)), batch, worker.net.Form())
	grad := make([]float32, len(w))
	b.ReportAllocs()
	for b.Loop() {
		must(b, worker.Score(w, batch, &θ))
		must(b, worker.Pullback(v, grad))
	}
}
