package nets

import (
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// mixing are graphs in which rows of different examples meet, with the op that a message names.
var mixing = map[string]struct {
	op    string
	graph func(g *Graph, x *gorgonia.Node) *gorgonia.Node
}{
	"similarities": {"matrix product", func(g *Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Mul(node(gorgonia.Mul(x, node(gorgonia.Transpose(x, 1, 0)))), x))
	}},
	"covariance": {"matrix product", func(g *Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Mul(x, node(gorgonia.Mul(node(gorgonia.Transpose(x, 1, 0)), x))))
	}},
	"batch normalisation": {"sum", func(g *Graph, x *gorgonia.Node) *gorgonia.Node {
		mean := node(gorgonia.Reshape(node(gorgonia.Mean(x, 0)), tensor.Shape{1, 4}))
		return node(gorgonia.BroadcastSub(x, mean, nil, []byte{0}))
	}},
	"sum of everything": {"sum", func(g *Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.HadamardProd(x, node(gorgonia.Sum(x))))
	}},
	"largest of all rows": {"max", func(g *Graph, x *gorgonia.Node) *gorgonia.Node {
		top := node(gorgonia.Reshape(node(gorgonia.Max(x, 0)), tensor.Shape{1, 4}))
		return node(gorgonia.BroadcastAdd(x, top, nil, []byte{0}))
	}},
	"softmax over rows": {"softmax", func(g *Graph, x *gorgonia.Node) *gorgonia.Node { return node(gorgonia.SoftMax(x, 0)) }},
	"transposed read as it was": {"reshape", func(g *Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Reshape(node(gorgonia.Transpose(x, 1, 0)), tensor.Shape{g.Rows, 4}))
	}},
	"half of the rows by the other": {"slice", func(g *Graph, x *gorgonia.Node) *gorgonia.Node {
		top, bottom := node(gorgonia.Slice(x, gorgonia.S(0, g.Rows/2), nil)), node(gorgonia.Slice(x, gorgonia.S(g.Rows/2, g.Rows), nil))
		return node(gorgonia.Concat(0, bottom, top))
	}},
	"two rows side by side": {"sum", func(g *Graph, x *gorgonia.Node) *gorgonia.Node {
		two := node(gorgonia.Reshape(x, tensor.Shape{g.Rows / 2, 2, 4}))
		s := node(gorgonia.Reshape(node(gorgonia.Sum(two, 1)), tensor.Shape{g.Rows / 2, 1, 4}))
		return node(gorgonia.Reshape(node(gorgonia.BroadcastAdd(two, s, nil, []byte{1})), tensor.Shape{g.Rows, 4}))
	}},
	"pairs of rows as matrices": {"transpose", func(g *Graph, x *gorgonia.Node) *gorgonia.Node {
		two := node(gorgonia.Reshape(x, tensor.Shape{g.Rows / 2, 2, 4}))
		gram := node(gorgonia.BatchedMatMul(two, node(gorgonia.Transpose(two, 0, 2, 1))))
		return node(gorgonia.Reshape(node(gorgonia.BatchedMatMul(gram, two)), tensor.Shape{g.Rows, 4}))
	}},
	"transposed square": {"+", func(g *Graph, x *gorgonia.Node) *gorgonia.Node { // [8×8] at the smallest size, where shapes fit
		wide := node(gorgonia.Concat(1, x, x))
		both := node(gorgonia.Add(wide, node(gorgonia.Transpose(wide, 1, 0))))
		return node(gorgonia.Slice(both, nil, gorgonia.S(0, 4)))
	}},
	"ids that look up rows": {"gather ids", func(g *Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Embed(x, 0)) }},
	"window of what is turned": {"gather window", func(g *Graph, x *gorgonia.Node) *gorgonia.Node {
		w := node(g.Window(node(gorgonia.Transpose(node(gorgonia.Concat(1, x, x)), 1, 0)), 3))
		return node(gorgonia.Slice(w, nil, gorgonia.S(0, 4)))
	}},
	"rows told apart by a constant": {"+", func(g *Graph, x *gorgonia.Node) *gorgonia.Node {
		n := tensor.New(tensor.WithShape(g.Rows, 4), tensor.WithBacking(tensor.Range(tensor.Float32, 0, g.Rows*4)))
		return node(gorgonia.Add(x, gorgonia.NewConstant(n)))
	}},
	"turned potentials": {"transpose", func(g *Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Transpose(node(gorgonia.Concat(1, x, x)), 1, 0))
	}},
}

// A graph that mixes rows of different examples is refused when it is built, by the name of the op.
func TestMixedRowsAreRefused(t *testing.T) {
	for name, c := range mixing {
		_, err := Build(ownSpec(c.graph), Input{Dim: 3, Vocab: []int{8}})
		if err == nil || !strings.Contains(err.Error(), `op "`+c.op) {
			t.Errorf("%s: error %v, want one about op %q", name, err, c.op)
		}
	}
}

// Potentials that all examples share depend on parameters alone.
func TestSharedPotentialsDependOnNoInput(t *testing.T) {
	spec := Spec{Name: "own", Params: []Param{{"in", []int{3, 2}, Glorot}},
		Build: func(g *Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			x := node(gorgonia.Mul(g.Features(), g.Param("in")))
			return x, node(gorgonia.Slice(x, gorgonia.S(0, 2), nil)), nil
		}}
	if _, err := Build(spec, Input{Dim: 3}); err == nil || !strings.Contains(err.Error(), `op "slice`) {
		t.Errorf("rows cut out as transitions: %v", err)
	}
	spec.Build = func(g *Graph) (*gorgonia.Node, *gorgonia.Node, error) {
		x := node(gorgonia.Mul(g.Features(), g.Param("in")))
		return x, node(gorgonia.Mul(node(gorgonia.Transpose(x, 1, 0)), x)), nil
	}
	if _, err := Build(spec, Input{Dim: 3}); err == nil || !strings.Contains(err.Error(), `op "matrix product`) {
		t.Errorf("transitions made of all rows: %v", err)
	}
}
