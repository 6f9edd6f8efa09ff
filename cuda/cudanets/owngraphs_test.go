package cudanets_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
)

// node is short for what many nested calls need. nets.Build turns its panic into an error.
var node = gorgonia.Must

func reshape(x *gorgonia.Node, shape ...int) *gorgonia.Node {
	return node(gorgonia.Reshape(x, tensor.Shape(shape)))
}

func constant(x float32) *gorgonia.Node { return gorgonia.NewConstant(x) }

// positive is 1 + x².
func positive(x *gorgonia.Node) *gorgonia.Node {
	return node(gorgonia.Add(constant(1), node(gorgonia.Square(x))))
}

func unary(f func(*gorgonia.Node) (*gorgonia.Node, error), of func(*gorgonia.Node) *gorgonia.Node) func(g *graph.Graph,
	x *gorgonia.Node) *gorgonia.Node {
	return func(_ *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(f(of(x))) }
}

// ownGraphs are custom networks; x is [Rows×4] and linear in the features, and so is the result.
var ownGraphs = map[string]func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node{
	"neg":      unary(gorgonia.Neg, same),
	"abs":      unary(gorgonia.Abs, same),
	"sin":      unary(gorgonia.Sin, same),
	"cos":      unary(gorgonia.Cos, same),
	"exp":      unary(gorgonia.Exp, same),
	"log":      unary(gorgonia.Log, positive),
	"cube":     unary(gorgonia.Cube, same),
	"sqrt":     unary(gorgonia.Sqrt, positive),
	"inv":      unary(gorgonia.Inverse, positive),
	"tanh":     unary(gorgonia.Tanh, same),
	"sigmoid":  unary(gorgonia.Sigmoid, same),
	"log1p":    unary(gorgonia.Log1p, positive),
	"expm1":    unary(gorgonia.Expm1, same),
	"softplus": unary(gorgonia.Softplus, same),
	"rectify":  unary(gorgonia.Rectify, same),
	"steps": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		s := node(gorgonia.Add(node(gorgonia.Ceil(x)), node(gorgonia.Floor(x))))
		return node(gorgonia.HadamardProd(x, node(gorgonia.Add(s, node(gorgonia.Sign(x))))))
	},
	"quotient": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.HadamardDiv(x, positive(x)))
	},
	"constant times": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Sub(constant(3), node(gorgonia.Mul(constant(0.5), x))))
	},
	"power": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Pow(positive(x), constant(1.5)))
	},
	"softmax": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(gorgonia.SoftMax(x, 1)) },
	"log softmax": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.LogSoftMax(x, 1))
	},
	"maximum": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		top := reshape(node(gorgonia.Max(x, 1)), g.Rows, 1)
		return node(gorgonia.BroadcastSub(x, top, nil, []byte{1}))
	},
	"normalised": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // over the columns of each row
		mean := reshape(node(gorgonia.Mean(x, 1)), g.Rows, 1)
		return node(gorgonia.BroadcastSub(x, mean, nil, []byte{1}))
	},
	"concat and slice": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		l := node(gorgonia.Slice(x, nil, gorgonia.S(0, 2)))
		r := node(gorgonia.Slice(x, nil, gorgonia.S(1, 4)))
		return node(gorgonia.Slice(node(gorgonia.Concat(1, l, r)), nil, gorgonia.S(0, 4)))
	},
	"every other": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		s := node(gorgonia.Slice(x, nil, gorgonia.S(0, 4, 2)))
		return node(gorgonia.Add(node(gorgonia.Concat(1, s, s)), x))
	},
	"transpose": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Transpose(node(gorgonia.Tanh(node(gorgonia.Transpose(x, 1, 0)))), 1, 0))
	},
	"three axes": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		a := node(gorgonia.Transpose(reshape(x, g.Rows, 2, 2), 0, 2, 1))
		return reshape(node(gorgonia.Tanh(a)), g.Rows, 4)
	},
	"transposed left factor": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Mul(x, node(gorgonia.Mul(node(gorgonia.Transpose(g.Param("square"), 1, 0)), g.Param("square")))))
	},
	"batched product": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		a := reshape(x, g.Rows, 2, 2)
		return reshape(node(gorgonia.BatchedMatMul(a, node(gorgonia.Tanh(a)))), g.Rows, 4)
	},
	"gate": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // one parameter used twice
		a := node(gorgonia.Mul(x, g.Param("square")))
		return node(gorgonia.HadamardProd(a,
			node(gorgonia.Sigmoid(node(gorgonia.Mul(node(gorgonia.Tanh(x)), g.Param("square")))))))
	},
	"bias twice": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		b := reshape(g.Param("bias"), 1, 4)
		y := node(gorgonia.BroadcastAdd(x, b, nil, []byte{0}))
		return node(gorgonia.BroadcastHadamardProd(y, b, nil, []byte{0}))
	},
	"matrix and vector": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		s := reshape(node(gorgonia.Mul(x, g.Param("bias"))), g.Rows, 1)
		return node(gorgonia.BroadcastHadamardProd(x, s, nil, []byte{1}))
	},
	"middle axis": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // an expand with entries on both sides
		a := reshape(x, g.Rows, 2, 2)
		s := reshape(node(gorgonia.Sum(a, 1)), g.Rows, 1, 2)
		return reshape(node(gorgonia.BroadcastHadamardProd(a, s, nil, []byte{1})), g.Rows, 4)
	},
	"window and itself": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		w := node(g.Window(x, 3))
		return node(gorgonia.Add(node(gorgonia.Tanh(x)), node(gorgonia.Slice(w, nil, gorgonia.S(0, 4)))))
	},
	"odd images": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // 3×5 pixels from the 4 columns
		p := reshape(node(gorgonia.Concat(1, x, node(gorgonia.Tanh(x)), node(gorgonia.Sin(x)),
			node(gorgonia.Slice(x, nil, gorgonia.S(1, 4))))), g.Rows*15, 1)
		patches := node(g.Patches(p, 3, 5)) // [Rows·15×9]
		y := node(g.MaxPool(node(gorgonia.Mul(patches, g.Param("filter"))), 3, 5))
		return node(gorgonia.Add(x, reshape(y, g.Rows, 4)))
	},
	// products with the row before are added to others
	"recurrences": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		a := node(gorgonia.Tanh(node(gorgonia.Mul(x, g.Param("square")))))
		h := node(g.LinearRecurrence(a, x, true))
		return node(gorgonia.Add(a,
			node(g.BidirectionalRecurrence(node(gorgonia.HadamardProd(a, h)), node(gorgonia.Sub(h, a))))))
	},
	"layer norm": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.LayerNorm(node(gorgonia.Tanh(x)), node(gorgonia.Exp(g.Param("bias"))), g.Param("bias")))
	},
	"gelu": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Activate(x, graph.GELU)) },
	"silu": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Activate(x, graph.SiLU)) },
	"embedded": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // a computed table
		return node(gorgonia.Add(x, node(g.Embed(node(gorgonia.Tanh(g.Param("table"))), 0))))
	},
}

func same(x *gorgonia.Node) *gorgonia.Node { return x }

var ownInput = graph.Input{Dim: 3, Vocab: []int{6}}

func ownNet(t testing.TB, middle func(*graph.Graph, *gorgonia.Node) *gorgonia.Node) *nets.Net {
	net, err := nets.Build(graph.Spec{
		Name: "own",
		Params: []graph.Param{{Name: "in", Shape: []int{3, 4}}, {Name: "square", Shape: []int{4, 4}},
			{Name: "bias", Shape: []int{4}},
			{Name: "filter", Shape: []int{9, 2}}, {Name: "table", Shape: []int{6, 4}}},
		Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			x, err := gorgonia.Mul(g.Features(), g.Param("in"))
			if err != nil {
				return nil, nil, err
			}
			return middle(g, x), nil, nil
		},
	}, ownInput)
	cudatest.Must(t, err)
	return net
}

func TestOwnGraphsEqualCPU(t *testing.T) {
	for name, middle := range ownGraphs {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 8))
			r := newRig(t, cudatest.Device(t), ownNet(t, middle), cudatest.RandomData(rng, ownInput, 4, 5, 3, 1), 16)
			r.check([]int{2, 0, 1}, 0)
		})
	}
}

// The networks tested here cover every kind of op.
func TestEveryOpIsTested(t *testing.T) {
	var all []*nets.Net
	for _, p := range presets {
		net, err := nets.New(p.config, p.input, 4)
		cudatest.Must(t, err)
		all = append(all, net)
	}
	for _, middle := range ownGraphs {
		all = append(all, ownNet(t, middle))
	}
	words, err := nets.Build(everyWord, graph.Input{Characters: 7, Attributes: 300})
	cudatest.Must(t, err)
	all = append(all, words)
	seen := map[string]bool{}
	for _, net := range all {
		p, err := net.Program(graph.Size{Rows: 16, Chars: graph.CharBucket(0)})
		cudatest.Must(t, err)
		for _, in := range slices.Concat(p.Forward, p.Pullback, p.Push) {
			kind := fmt.Sprintf("%T", in.Op)
			switch o := in.Op.(type) {
			case graph.Gather:
				kind += " " + o.Index.String()
			case graph.Scatter:
				kind += fmt.Sprint(" ", o.Index, " ", in.Accumulate)
			case graph.Recurrence:
				kind += fmt.Sprint(" ", o.Adjoint)
			case graph.Bag, graph.BagScatter, graph.Sum, graph.MatMul, graph.Unslice, graph.TimesPrevious:
				kind += fmt.Sprint(" ", in.Accumulate)
			case graph.Softmax:
				kind += fmt.Sprint(" ", o.Log)
			case graph.SoftmaxPull:
				kind += fmt.Sprint(" ", o.Log)
			}
			seen[kind] = true
		}
	}
	for _, kind := range []string{
		"MatMul false", "MatMul true", "Binary", "Unary", "Slope", "Assign", "Mask", "Sum false", "Sum true", "Maximum",
		"Softmax false", "Softmax true", "SoftmaxPull false", "SoftmaxPull true", "MaxPool", "PoolPush", "PoolPull",
		"Permute", "Concat", "Slice", "Unslice false", "Unslice true", "Recurrence false", "Recurrence true",
		"TimesPrevious false", "TimesPrevious true", "Normalise", "NormalisePull", "Gather ids", "Gather window",
		"Gather pattern", "Scatter ids true", "Scatter ids false", "Scatter window false", "Scatter window true",
		"Scatter pattern false", "Gather characters", "Gather character window", "Gather character parts",
		"Scatter characters true", "Scatter character window false", "Scatter character parts false", "SegmentMax",
		"SegmentMaxPush", "SegmentMaxPull", "Bag true", "Bag false", "BagScatter true", "BagScatter false",
	} {
		if !seen["graph."+kind] {
			t.Errorf("no network tested here has a %s", kind)
		}
		delete(seen, "graph."+kind)
	}
	for kind := range seen {
		t.Logf("also: %s", kind)
	}
}

// unknown is an op without a kernel.
type unknown struct{ graph.Op }

func (unknown) String() string { return "fold" }

func TestOpWithoutKernel(t *testing.T) {
	if err := cudanets.Compile(unknown{}); err == nil || !strings.Contains(err.Error(), `op "fold"`) {
		t.Errorf("error %v, want one about fold", err)
	}
}
