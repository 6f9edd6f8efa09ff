package selftest

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/graph"
)

// ownGraph is a network as users write them, with ops that the built-in networks do not use. middle maps [Rows×4] to
// [Rows×4].
type ownGraph struct {
	name   string
	middle func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node
}

var ownInput = graph.Input{Dim: 3, Vocab: []int{6}}

func (o ownGraph) spec() graph.Spec {
	return graph.Spec{
		Name:   "own",
		Params: []graph.Param{{Name: "in", Shape: []int{3, 4}}, {Name: "square", Shape: []int{4, 4}}, {Name: "table", Shape: []int{6, 4}}},
		Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			return o.middle(g, must(gorgonia.Mul(g.Features(), g.Param("in")))), nil, nil
		},
	}
}

// must returns n or panics with err; nets.Build turns the panic into an error.
func must(n *gorgonia.Node, err error) *gorgonia.Node {
	if err != nil {
		panic(err)
	}
	return n
}

func reshape(x *gorgonia.Node, shape ...int) *gorgonia.Node {
	return must(gorgonia.Reshape(x, tensor.Shape(shape)))
}

var ownGraphs = []ownGraph{
	{"attention and positions", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		at := must(g.AddPositions(x))
		return must(g.Attention(at, must(g.Rotate(at, 4, 2)), must(gorgonia.Tanh(at)), 2))
	}},
	{"softmax", func(_ *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return must(gorgonia.Add(must(gorgonia.SoftMax(x, 1)), must(gorgonia.LogSoftMax(x, 1))))
	}},
	{"maximum and mean", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		top, mean := reshape(must(gorgonia.Max(x, 1)), g.Rows, 1), reshape(must(gorgonia.Mean(x, 1)), g.Rows, 1)
		return must(gorgonia.BroadcastSub(x, must(gorgonia.Add(top, mean)), nil, []byte{1}))
	}},
	{"slices and transposes", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		left, right := must(gorgonia.Slice(x, nil, gorgonia.S(0, 2))), must(gorgonia.Slice(x, nil, gorgonia.S(2, 4)))
		turned := must(gorgonia.Transpose(reshape(must(gorgonia.Concat(1, right, left)), g.Rows, 2, 2), 0, 2, 1))
		return reshape(must(gorgonia.Tanh(turned)), g.Rows, 4)
	}},
	{"products of many small matrices", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		a := reshape(x, g.Rows, 2, 2)
		return reshape(must(gorgonia.BatchedMatMul(a, must(gorgonia.Sigmoid(a)))), g.Rows, 4)
	}},
	{"weights used twice, computed table", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		gate := must(gorgonia.Sigmoid(must(gorgonia.Mul(must(gorgonia.Mul(x, g.Param("square"))), g.Param("square")))))
		return must(gorgonia.Add(must(gorgonia.HadamardProd(x, gate)), must(g.Embed(must(gorgonia.Tanh(g.Param("table"))), 0))))
	}},
	{"recurrences and layer norm", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		h := must(g.LinearRecurrence(must(gorgonia.Sigmoid(must(gorgonia.Mul(x, g.Param("square"))))), x, true))
		return must(gorgonia.Add(must(g.Activate(h, graph.GELU)), must(g.Activate(must(g.Normalise(x)), graph.SiLU))))
	}},
}
