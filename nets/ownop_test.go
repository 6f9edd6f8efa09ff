package nets_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// ownCase is a network with an op of the user's own, x·s for a vector s that all rows share, and a batch.
func ownCase(t testing.TB, rows int) (net *nets.Net, weights []float32, batch *structured.Batch) {
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
	net, err := nets.Build(ownSpec(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.Own(times, x, g.Param("bias")))
	}), graph.Input{Dim: 3})
	must(t, err)
	batch = new(structured.Batch)
	batch.Reset(net.Draw(rand.New(rand.NewPCG(1, 2)), rows), []int{0})
	return net, randomVector(rand.New(rand.NewPCG(3, 4)), net.Dim(), 1), batch
}

// A step with an own op allocates nothing once it is warm.
func TestOwnOpAllocatesNothing(t *testing.T) {
	net, w, batch := ownCase(t, 50)
	worker := net.NewNetWorker()
	var θ, tangent structured.Potentials
	v := randomMarginals(rand.New(rand.NewPCG(5, 6)), batch, net.Form())
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
	net, w, batch := ownCase(b, 4096)
	worker := net.NewNetWorker()
	var θ structured.Potentials
	v := randomMarginals(rand.New(rand.NewPCG(5, 6)), batch, net.Form())
	grad := make([]float32, len(w))
	b.ReportAllocs()
	for b.Loop() {
		must(b, worker.Score(w, batch, &θ))
		must(b, worker.Pullback(v, grad))
	}
}

// Own refuses ops and inputs that do not fit, and ops that would mix rows.
func TestOwnOpRefuses(t *testing.T) {
	copies := graph.RowOp{
		Name: "copies", Width: 4,
		Forward:  func(x [][]float32, y []float32) { copy(y, x[0]) },
		Pullback: func(_ [][]float32, _, dy []float32, dx [][]float32) { copy(dx[0], dy) },
		Push:     func(_, dx [][]float32, _, dy []float32) { copy(dy, dx[0]) },
	}
	nameless, thin, half := copies, copies, copies
	nameless.Name, thin.Width, half.Push = "", 0, nil
	for _, c := range []struct {
		message string
		build   func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node
	}{
		{"has no Name", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Own(nameless, x)) }},
		{"has Width 0", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Own(thin, x)) }},
		{"lacks a function", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Own(half, x)) }},
		{"input with rows", func(g *graph.Graph, _ *gorgonia.Node) *gorgonia.Node {
			return node(g.Own(copies, g.Param("bias")))
		}},
		{"as many as the other inputs", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.Own(copies, x, g.Param("square")))
		}},
		{`op "copies" mixes rows`, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			turned := copies
			turned.Width = g.Rows
			return node(gorgonia.Transpose(node(g.Own(turned, node(gorgonia.Transpose(x, 1, 0)))), 1, 0))
		}},
	} {
		_, err := nets.Build(ownSpec(c.build), graph.Input{Dim: 3})
		if err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%v, expected %q", err, c.message)
		}
	}
	net, err := nets.Build(ownSpec(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.Own(copies, x))
	}), graph.Input{Dim: 3})
	if err != nil {
		t.Fatal(err)
	}
	if ops := net.Needs().OwnOps; len(ops) != 1 || ops[0] != "copies" {
		t.Errorf("own ops %v", ops)
	}
}
