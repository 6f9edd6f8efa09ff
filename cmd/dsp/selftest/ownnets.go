package selftest

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets"
)

// ownGraph is a network as users write them, of ops that the built-in ones do not have. middle maps [Rows×4] to [Rows×4].
type ownGraph struct {
	name   string
	middle func(g *nets.Graph, x *gorgonia.Node) *gorgonia.Node
}

var ownInput = nets.Input{Dim: 3, Vocab: []int{6}}

func (o ownGraph) spec() nets.Spec {
	return nets.Spec{
		Name:   "own",
		Params: []nets.Param{{Name: "in", Shape: []int{3, 4}}, {Name: "square", Shape: []int{4, 4}}, {Name: "table", Shape: []int{6, 4}}},
		Build: func(g *nets.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			return o.middle(g, of(gorgonia.Mul(g.Features(), g.Param("in")))), nil, nil
		},
	}
}

// of unwraps a node: nets.Build turns the panic into its error.
func of(n *gorgonia.Node, err error) *gorgonia.Node {
	if err != nil {
		panic(err)
	}
	return n
}

func reshape(x *gorgonia.Node, shape ...int) *gorgonia.Node {
	return of(gorgonia.Reshape(x, tensor.Shape(shape)))
}

var ownGraphs = []ownGraph{
	{"softmax", func(_ *nets.Graph, x *gorgonia.Node) *gorgonia.Node {
		return of(gorgonia.Add(of(gorgonia.SoftMax(x, 1)), of(gorgonia.LogSoftMax(x, 1))))
	}},
	{"maximum and mean", func(g *nets.Graph, x *gorgonia.Node) *gorgonia.Node {
		top, mean := reshape(of(gorgonia.Max(x, 1)), g.Rows, 1), reshape(of(gorgonia.Mean(x, 1)), g.Rows, 1)
		return of(gorgonia.BroadcastSub(x, of(gorgonia.Add(top, mean)), nil, []byte{1}))
	}},
	{"slices and transposes", func(g *nets.Graph, x *gorgonia.Node) *gorgonia.Node {
		left, right := of(gorgonia.Slice(x, nil, gorgonia.S(0, 2))), of(gorgonia.Slice(x, nil, gorgonia.S(2, 4)))
		turned := of(gorgonia.Transpose(reshape(of(gorgonia.Concat(1, right, left)), g.Rows, 2, 2), 0, 2, 1))
		return reshape(of(gorgonia.Tanh(turned)), g.Rows, 4)
	}},
	{"products of many small matrices", func(g *nets.Graph, x *gorgonia.Node) *gorgonia.Node {
		a := reshape(x, g.Rows, 2, 2)
		return reshape(of(gorgonia.BatchedMatMul(a, of(gorgonia.Sigmoid(a)))), g.Rows, 4)
	}},
	{"weights twice, a table that is computed", func(g *nets.Graph, x *gorgonia.Node) *gorgonia.Node {
		gate := of(gorgonia.Sigmoid(of(gorgonia.Mul(of(gorgonia.Mul(x, g.Param("square"))), g.Param("square")))))
		return of(gorgonia.Add(of(gorgonia.HadamardProd(x, gate)), of(g.Embed(of(gorgonia.Tanh(g.Param("table"))), 0))))
	}},
}
