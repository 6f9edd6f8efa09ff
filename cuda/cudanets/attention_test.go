package cudanets_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
)

// attentionNet computes potentials of x [Rows×width], linear in the features.
func attentionNet(t testing.TB, width int, middle func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node) *nets.Net {
	net, err := nets.Build(graph.Spec{Name: "attention", Params: []graph.Param{{Name: "in", Shape: []int{3, width}}},
		Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			return middle(g, node(gorgonia.Mul(g.Features(), g.Param("in")))), nil, nil
		}}, graph.Input{Dim: 3})
	cudatest.Must(t, err)
	return net
}

var attentionGraphs = []struct {
	name  string
	width int
	graph func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node
}{
	{"one head", 12, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.SelfAttention(node(gorgonia.Tanh(x)), 1))
	}},
	{"three heads of one channel", 9, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.SelfAttention(x, 3)) }},
	{"many channels", 3 * 150, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		y := node(g.SelfAttention(node(gorgonia.Tanh(x)), 1))
		return node(gorgonia.Slice(y, nil, gorgonia.S(120, 135)))
	}},
	{"rotated", 24, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.SelfAttention(node(g.Rotate(node(gorgonia.Tanh(x)), 16, 4)), 2))
	}},
	{"sinusoids", 12, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.SelfAttention(node(gorgonia.Tanh(node(g.AddPositions(x)))), 2))
	}},
	{"twice", 12, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		y := node(g.SelfAttention(x, 2))
		return node(gorgonia.Add(y, node(g.Attention(y, y, node(gorgonia.Tanh(y)), 1))))
	}},
}

// Attention and positions on the device equal the CPU's, for chains shorter and longer than a warp.
func TestAttentionEqualsCPU(t *testing.T) {
	for _, c := range attentionGraphs {
		for _, examples := range [][]int{{3, 0, 1, 2, 5, 4}, {4, 1}, {3}} {
			t.Run(fmt.Sprint(c.name, examples), func(t *testing.T) {
				data := cudatest.RandomData(rand.New(rand.NewPCG(9, 10)), graph.Input{Dim: 3}, 3, 3, 1, 0, 39, 2, 5)
				newRig(t, cudatest.Device(t), attentionNet(t, c.width, c.graph), data, 56).check(examples, 0)
			})
		}
	}
}

// A captured graph replayed on another batch gives what direct calls give, bit for bit.
func TestAttentionGraph(t *testing.T) {
	d := cudatest.Device(t)
	net := attentionNet(t, 24, attentionGraphs[3].graph)
	r := newRig(t, d, net, cudatest.RandomData(rand.New(rand.NewPCG(5, 6)), graph.Input{Dim: 3}, 3, 3, 1, 4), 16)
	e, w, grad := r.executor(), r.upload(cudatest.Vector(r.rng, net.Dim(), 0.5)), r.upload(make([]float32, net.Dim()))
	node, edge := r.upload(cudatest.Vector(r.rng, r.θ.Node.Len(), 1)), r.upload(make([]float32, r.θ.Edge.Len()))
	step := func() {
		device.Zero(d, grad)
		e.Score(w, r.batch, r.θ.Parts())
		e.Pullback(cudanets.Parts{node, edge}, grad)
	}
	r.batch.Set([]int{1, 0, 2})
	graph := d.Capture(step)
	defer graph.Free()
	r.batch.Set([]int{2, 0})
	result := func(run func()) []float32 {
		run()
		n, _ := r.potentials()
		return slices.Concat(n, r.download(grad))
	}
	direct := result(step)
	if !slices.Equal(direct, result(step)) {
		t.Error("two runs give different bits")
	}
	if !slices.Equal(direct, result(func() { d.Replay(graph) })) {
		t.Error("the captured graph gives another result")
	}
}
