package nets_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// node is short for what many nested calls need. Build turns its panic into an error.
var node = gorgonia.Must

// ownGraphs use Gorgonia's ops as a user's custom graph would.
var ownGraphs = map[string]func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node{
	"rectify":  func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(gorgonia.Rectify(x)) },
	"tanh":     func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(gorgonia.Tanh(x)) },
	"sigmoid":  func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(gorgonia.Sigmoid(x)) },
	"softplus": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(gorgonia.Softplus(x)) },
	"exp and log": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Log1p(node(gorgonia.Exp(x))))
	},
	"sine": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Sin(node(gorgonia.Cos(x))))
	},
	"square": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(gorgonia.Square(x)) },
	"cube":   func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(gorgonia.Cube(x)) },
	"product": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.HadamardProd(x, node(gorgonia.Sub(x, node(gorgonia.Neg(x))))))
	},
	"quotient": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		one := gorgonia.NewConstant(constantOf(g, 1))
		return node(gorgonia.HadamardDiv(x, node(gorgonia.Add(one, node(gorgonia.Square(x))))))
	},
	"constant times": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Sub(gorgonia.NewConstant(constantOf(g, 3)),
			node(gorgonia.Mul(gorgonia.NewConstant(constantOf(g, 0.5)), x))))
	},
	"softmax": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(gorgonia.SoftMax(x, 1)) },
	"normalised": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // over the columns of each row
		mean := node(gorgonia.Mean(x, 1))
		return node(gorgonia.BroadcastSub(x, node(gorgonia.Reshape(mean, tensor.Shape{g.Rows, 1})), nil, []byte{1}))
	},
	"concat and slice": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		l := node(gorgonia.Slice(x, nil, gorgonia.S(0, 2)))
		r := node(gorgonia.Slice(x, nil, gorgonia.S(1, 4)))
		return node(gorgonia.Slice(node(gorgonia.Concat(1, l, r)), nil, gorgonia.S(0, 4)))
	},
	"transpose": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Transpose(node(gorgonia.Tanh(node(gorgonia.Transpose(x, 1, 0)))), 1, 0))
	},
	"transposed factor": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Mul(x, node(gorgonia.Transpose(g.Param("square"), 1, 0))))
	},
	"transposed left factor": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Mul(x,
			node(gorgonia.Mul(node(gorgonia.Transpose(g.Param("square"), 1, 0)), node(gorgonia.Tanh(g.Param("square")))))))
	},
	"batched product": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		a := node(gorgonia.Reshape(x, tensor.Shape{g.Rows, 2, 2}))
		return node(gorgonia.Reshape(node(gorgonia.BatchedMatMul(a, node(gorgonia.Tanh(a)))), tensor.Shape{g.Rows, 4}))
	},
	"gate": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // one parameter used twice
		a := node(gorgonia.Mul(x, g.Param("square")))
		return node(gorgonia.HadamardProd(a,
			node(gorgonia.Sigmoid(node(gorgonia.Mul(node(gorgonia.Tanh(x)), g.Param("square")))))))
	},
	"bias twice": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		b := node(gorgonia.Reshape(g.Param("bias"), tensor.Shape{1, 4}))
		y := node(gorgonia.BroadcastAdd(x, b, nil, []byte{0}))
		return node(gorgonia.BroadcastHadamardProd(y, b, nil, []byte{0}))
	},
	"bias by ones": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // a matrix product repeats a row of parameters
		ones := gorgonia.NewConstant(tensor.Ones(g.Dtype, g.Rows, 1))
		return node(gorgonia.Add(x, node(gorgonia.Mul(ones, node(gorgonia.Reshape(g.Param("bias"), tensor.Shape{1, 4}))))))
	},
	"three axes": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		a := node(gorgonia.Transpose(node(gorgonia.Reshape(x, tensor.Shape{g.Rows, 2, 2})), 2, 0, 1))
		a = node(gorgonia.Transpose(node(gorgonia.Tanh(a)), 1, 2, 0))
		return node(gorgonia.Reshape(a, tensor.Shape{g.Rows, 4}))
	},
	"sums before and behind the rows": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		turned := node(gorgonia.Transpose(x, 1, 0)) // [4×Rows]
		both := node(gorgonia.Concat(0, turned, node(gorgonia.Tanh(turned))))
		sum := node(gorgonia.Reshape(node(gorgonia.Sum(both, 0)), tensor.Shape{g.Rows, 1}))
		part := node(gorgonia.Transpose(node(gorgonia.Slice(both, gorgonia.S(2, 6), nil)), 1, 0))
		return node(gorgonia.BroadcastHadamardProd(part, sum, nil, []byte{1}))
	},
	"factor from the left": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Transpose(
			node(gorgonia.Mul(g.Param("square"), node(gorgonia.Tanh(node(gorgonia.Transpose(x, 1, 0)))))), 1, 0))
	},
	"dot product": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Mul(x, node(gorgonia.Mul(g.Param("bias"), node(gorgonia.Tanh(g.Param("bias")))))))
	},
	"column times row": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // instead of an outer product
		column := node(gorgonia.Reshape(g.Param("bias"), tensor.Shape{4, 1}))
		row := node(gorgonia.Reshape(node(gorgonia.Tanh(g.Param("bias"))), tensor.Shape{1, 4}))
		return node(gorgonia.Mul(x, node(gorgonia.Mul(column, row))))
	},
	"vector and matrix": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		b := node(gorgonia.Mul(g.Param("bias"), g.Param("square"))) // [4]
		return node(gorgonia.BroadcastAdd(x, node(gorgonia.Reshape(b, tensor.Shape{1, 4})), nil, []byte{0}))
	},
	"matrix and vector": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		s := node(gorgonia.Mul(x, g.Param("bias"))) // [Rows]
		return node(gorgonia.BroadcastHadamardProd(x, node(gorgonia.Reshape(s, tensor.Shape{g.Rows, 1})), nil, []byte{1}))
	},
}

func constantOf(g *graph.Graph, x float64) any {
	if g.Dtype == tensor.Float64 {
		return x
	}
	return float32(x)
}

func ownSpec(middle func(*graph.Graph, *gorgonia.Node) *gorgonia.Node) graph.Spec {
	return graph.Spec{
		Name: "own",
		Params: []graph.Param{{Name: "in", Shape: []int{3, 4}, Init: graph.Glorot},
			{Name: "square", Shape: []int{4, 4}, Init: graph.Glorot},
			{Name: "bias", Shape: []int{4}}},
		Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			x, err := gorgonia.Mul(g.Features(), g.Param("in"))
			if err != nil {
				return nil, nil, err
			}
			return middle(g, x), nil, nil
		},
	}
}

// Score, pullback and push-forward of graphs of Gorgonia's own ops equal those of Gorgonia's TapeMachine.
func TestOwnGraphsEqualGorgonia(t *testing.T) {
	for name, middle := range ownGraphs {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(11, 12))
			net, err := nets.Build(ownSpec(middle), graph.Input{Dim: 3})
			must(t, err)
			var batch structured.Batch
			batch.Reset(randomData(rng, graph.Input{Dim: 3}, 4, 5, 3, 1), []int{0, 1, 2})
			checkAgainst(t, newReference(t, net, &batch, 0), net, &batch, randomVector(rng, net.Dim(), 0.7), 0, rng)
		})
	}
}

func TestBuildErrors(t *testing.T) {
	for _, c := range []struct {
		want string
		spec graph.Spec
	}{
		{`op "im2col`, ownSpec(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // the program has no such op
			image := node(gorgonia.Reshape(x, tensor.Shape{g.Rows, 1, 2, 2}))
			filter := node(gorgonia.Reshape(g.Param("square"), tensor.Shape{4, 1, 2, 2}))
			y := node(gorgonia.Conv2d(image, filter, tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
			return node(gorgonia.Reshape(y, tensor.Shape{g.Rows, 4}))
		})},
		// Gorgonia differentiates it wrongly
		{`op "invSqrt"`, ownSpec(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(gorgonia.InverseSqrt(x))
		})},
		{`outer products of vectors wrongly; reshape`, ownSpec(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(gorgonia.Mul(x, node(gorgonia.OuterProd(g.Param("bias"), g.Param("bias")))))
		})},
		{`op "log2"`, ownSpec(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(gorgonia.Log2(x)) })},
		{`"nothing" is not in the Spec`, ownSpec(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return g.Param("nothing")
		})},
		{"vocabularies have sizes []", ownSpec(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.Embed(g.Param("square"), 0))
		})},
		{"expected [8×labels]", ownSpec(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return g.Param("bias") })},
		{"depend on any parameter",
			graph.Spec{Name: "x", Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
				return g.Features(), nil, nil
			}}},
		{"odd", ownSpec(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Window(x, 2)) })},
		{"two parameters", graph.Spec{Params: []graph.Param{{Name: "a", Shape: []int{1}}, {Name: "a", Shape: []int{1}}}}},
		{"must be positive", graph.Spec{Params: []graph.Param{{Name: "a", Shape: []int{0}}}}},
		{"has no value", ownSpec(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(gorgonia.Add(x,
				gorgonia.NewMatrix(g.ExprGraph, g.Dtype, gorgonia.WithShape(g.Rows, 4), gorgonia.WithName("stray"))))
		})},
	} {
		_, err := nets.Build(c.spec, graph.Input{Dim: 3})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one about %q", err, c.want)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		config nets.Config
		input  graph.Input
		want   string // the net, or part of the error
	}{
		{nets.Config{}, graph.Input{Dim: 3}, "linear"},
		{nets.Config{Net: "cnn"}, graph.Input{Dim: 128}, "cnn-image"},
		{nets.Config{Net: "cnn"}, graph.Input{Dim: 64}, "cnn"},
		{nets.Config{Net: "cnn-image"}, graph.Input{Dim: 64}, "16×8 images"},
		{nets.Config{Net: "embed"}, graph.Input{Dim: 64}, "the data has none"},
		{nets.Config{Net: "embed", Embed: []int{3}}, graph.Input{Vocab: []int{100, 10}}, "embed"},
		{nets.Config{Net: "mlp"}, graph.Input{Vocab: []int{100, 10}}, "net embed reads words"},
		{nets.Config{Net: "biaffine"}, graph.Input{Dim: 3}, "biaffine"},
		{nets.Config{Net: "biaffine", Recurrent: []int{4}}, graph.Input{Dim: 3}, "biaffine"},
		{nets.Config{Net: "attention"}, graph.Input{Dim: 3}, "attention"},
		{nets.Config{Net: "attention"}, graph.Input{Vocab: []int{100, 10}}, "attention"},
		{nets.Config{Net: "attention"}, graph.Input{}, "the data has neither"},
		{nets.Config{Net: "attention", Channels: []int{12}}, graph.Input{Dim: 3}, "multiple of 8"},
		{nets.Config{Net: "attention", Layers: -1}, graph.Input{Dim: 3}, "-1 layers"},
		{nets.Config{Net: "cnn", Heads: 2}, graph.Input{Dim: 3}, "attention, biaffine and bilinear do"},
		{nets.Config{Net: "biaffine", Heads: 2}, graph.Input{Dim: 3}, "set layers"},
		{nets.Config{Net: "biaffine", Layers: 2}, graph.Input{Dim: 3}, "biaffine"},
		{nets.Config{Net: "rnn"}, graph.Input{Dim: 3}, "rnn"},
		{nets.Config{Net: "rnn"}, graph.Input{Vocab: []int{100, 10}}, "rnn"},
		{nets.Config{Net: "rnn"}, graph.Input{}, "the data has neither"},
		{nets.Config{Net: "rnn", Recurrent: []int{-1}}, graph.Input{Dim: 3}, "-1 units"},
		// one is its own
		{nets.Config{Net: "cnn", Hidden: slices.Repeat([]int{1}, 1000)}, graph.Input{Dim: 128},
			"1001 layers, expected at most 1000"},
		{nets.Config{Net: "cnn", Hidden: slices.Repeat([]int{1}, 999)}, graph.Input{Dim: 128}, "cnn-image"},
		{nets.Config{Net: "embed", Recurrent: []int{4}}, graph.Input{Vocab: []int{100}}, "net embed has no recurrent; "},
		{nets.Config{Net: "biaffine", Edges: nets.EdgesTransition}, graph.Input{Vocab: []int{100, 10}}, "biaffine"},
		{nets.Config{Net: "biaffine"}, graph.Input{}, "the data has neither"},
		{nets.Config{Net: "biaffine", ArcUnits: -1}, graph.Input{Dim: 3}, "-1 units"},
		{nets.Config{Net: "mlp", LabelUnits: 3}, graph.Input{Dim: 3}, "biaffine and stack do"},
		{nets.Config{Net: "deep"}, graph.Input{Vocab: []int{5}}, "reads words and their characters"},
		{nets.Config{Net: "deep"}, graph.Input{Vocab: []int{5}, Characters: 9}, "deep"},
		{nets.Config{Net: "deep", Window: 3, Recurrent: []int{4}}, graph.Input{Vocab: []int{5}, Characters: 9},
			"window only with channels"},
		{nets.Config{Net: "deep", AttributeUnits: 3}, graph.Input{Vocab: []int{5}, Characters: 9},
			"the data has 0 attributes"},
		{nets.Config{Net: "deep", CharWindow: 2}, graph.Input{Vocab: []int{5}, Characters: 9}, "window of 2 characters"},
		{nets.Config{Net: "deep", CharChannels: -1}, graph.Input{Vocab: []int{5}, Characters: 9}, "-1 units"},
		{nets.Config{Net: "embed", CharChannels: 5}, graph.Input{Vocab: []int{5}, Characters: 9},
			"net embed has no char-channels"},
		{nets.Config{Net: "biaffine", CharWindow: 5}, graph.Input{Vocab: []int{5}, Characters: 9}, "only with char-channels"},
		{nets.Config{Net: "biaffine", CharChannels: 5}, graph.Input{Vocab: []int{5}}, "has no characters"},
		{nets.Config{Net: "biaffine", CharChannels: 5, CharWindow: 5}, graph.Input{Vocab: []int{5}, Characters: 3},
			"biaffine"},
		{nets.Config{Net: "lstm"}, graph.Input{Dim: 3},
			strings.Join(nets.PresetsThat(func(*nets.Preset) bool { return true }), ", ")},
		{nets.Config{Net: "mlp", Activation: "step"}, graph.Input{Dim: 3}, "elu, tanh, relu, gelu, silu"},
		{nets.Config{Net: "mlp", Hidden: []int{0}}, graph.Input{Dim: 3}, "0 units"},
		{nets.Config{Net: "mlp", Dropout: 1}, graph.Input{Dim: 3}, "[0, 1)"},
		{nets.Config{Net: "cnn", Window: 4}, graph.Input{Dim: 3}, "odd"},
		{nets.Config{Net: "linear", Hidden: []int{3}}, graph.Input{Dim: 3}, "net linear has no hidden"},
		{nets.Config{Net: "linear", Edges: "some"}, graph.Input{Dim: 3}, "transition, position, none"},
	} {
		r, err := c.config.Resolve(c.input)
		if err == nil && r.Net != c.want || err != nil &&
			(!strings.Contains(err.Error(), c.want) || !structured.IsBadInput(err)) {
			t.Errorf("%+v: %q, %v; want %q", c.config, r.Net, err, c.want)
		}
		if again, err2 := r.Resolve(c.input); err == nil &&
			(err2 != nil || again.Net != r.Net || len(again.Embed) != len(r.Embed)) {
			t.Errorf("%+v resolves to %+v (%v) when resolved again", r, again, err2)
		}
	}
}

func TestWorkerErrors(t *testing.T) {
	net := mustNew(t, nets.Config{Net: "mlp"}, graph.Input{Dim: 3}, 2)
	words := mustNew(t, nets.Config{Net: "embed"}, graph.Input{Vocab: []int{5}}, 2)
	rng := rand.New(rand.NewPCG(1, 1))
	var dense, discrete structured.Batch
	dense.Reset(randomData(rng, graph.Input{Dim: 4}, 2, 3), []int{0})
	discrete.Reset(randomData(rng, graph.Input{Vocab: []int{9, 9}}, 2, 3), []int{0})
	large := randomData(rng, graph.Input{Vocab: []int{5}}, 2, 3)
	large.Ids[1] = 7
	var unknown structured.Batch
	unknown.Reset(large, []int{0})
	var θ structured.Potentials
	for _, c := range []struct {
		want string
		err  error
	}{
		{"reads 3", net.NewWorker().Score(net.Init(1), &dense, &θ)},
		{"reads 1", words.NewWorker().Score(words.Init(1), &discrete, &θ)},
		{"knows 0 to 4", words.NewWorker().Score(words.Init(1), &unknown, &θ)},
		{"weights given", net.NewWorker().Score(nil, &dense, &θ)},
		{"before Score", net.NewWorker().Pullback(nil, nil)},
		{"before Score", net.NewNetWorker().PushForward(nil, nil)},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want one about %q", c.err, c.want)
		}
	}
}

// Dropout depends on the seed, the example and the position, not on the batch.
func TestDropoutMask(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	net := mustNew(t, nets.Config{Net: "mlp", Hidden: []int{400}, Dropout: 0.25, Edges: nets.EdgesNone},
		graph.Input{Dim: 3}, 2)
	var batch structured.Batch
	batch.Reset(randomData(rng, graph.Input{Dim: 3}, 2, 3, 4), []int{0, 1})
	w, worker := net.Init(1), net.NewNetWorker()
	at := func(seed uint64) []float32 {
		var θ structured.Potentials
		must(t, worker.ScoreDropout(w, seed, &batch, &θ))
		return append([]float32(nil), θ.Parts[0].Values...)
	}
	off, one, two := at(0), at(1), at(2)
	same := func(x, y []float32) bool {
		for i := range x {
			if x[i] != y[i] {
				return false
			}
		}
		return true
	}
	if same(off, one) || same(one, two) || !same(one, at(1)) || !same(off, at(0)) {
		t.Error("the mask does not follow the seed")
	}
}

// mixing are graphs that mix rows of different examples, with the op that the error names.
var mixing = map[string]struct {
	op    string
	graph func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node
}{
	"similarities": {"matrix product", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Mul(node(gorgonia.Mul(x, node(gorgonia.Transpose(x, 1, 0)))), x))
	}},
	"covariance": {"matrix product", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Mul(x, node(gorgonia.Mul(node(gorgonia.Transpose(x, 1, 0)), x))))
	}},
	"batch normalisation": {"sum", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		mean := node(gorgonia.Reshape(node(gorgonia.Mean(x, 0)), tensor.Shape{1, 4}))
		return node(gorgonia.BroadcastSub(x, mean, nil, []byte{0}))
	}},
	"sum of everything": {"sum", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.HadamardProd(x, node(gorgonia.Sum(x))))
	}},
	"largest of all rows": {"max", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		top := node(gorgonia.Reshape(node(gorgonia.Max(x, 0)), tensor.Shape{1, 4}))
		return node(gorgonia.BroadcastAdd(x, top, nil, []byte{0}))
	}},
	"softmax over rows": {"softmax", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.SoftMax(x, 0))
	}},
	"transposed read as it was": {"reshape", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Reshape(node(gorgonia.Transpose(x, 1, 0)), tensor.Shape{g.Rows, 4}))
	}},
	"half of the rows by the other": {"slice", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		top, bottom := node(gorgonia.Slice(x, gorgonia.S(0, g.Rows/2), nil)),
			node(gorgonia.Slice(x, gorgonia.S(g.Rows/2, g.Rows), nil))
		return node(gorgonia.Concat(0, bottom, top))
	}},
	"two rows side by side": {"sum", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		two := node(gorgonia.Reshape(x, tensor.Shape{g.Rows / 2, 2, 4}))
		s := node(gorgonia.Reshape(node(gorgonia.Sum(two, 1)), tensor.Shape{g.Rows / 2, 1, 4}))
		return node(gorgonia.Reshape(node(gorgonia.BroadcastAdd(two, s, nil, []byte{1})), tensor.Shape{g.Rows, 4}))
	}},
	"pairs of rows as matrices": {"transpose", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		two := node(gorgonia.Reshape(x, tensor.Shape{g.Rows / 2, 2, 4}))
		gram := node(gorgonia.BatchedMatMul(two, node(gorgonia.Transpose(two, 0, 2, 1))))
		return node(gorgonia.Reshape(node(gorgonia.BatchedMatMul(gram, two)), tensor.Shape{g.Rows, 4}))
	}},
	// [8×8] at the smallest size, where shapes fit
	"transposed square": {"+", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		wide := node(gorgonia.Concat(1, x, x))
		both := node(gorgonia.Add(wide, node(gorgonia.Transpose(wide, 1, 0))))
		return node(gorgonia.Slice(both, nil, gorgonia.S(0, 4)))
	}},
	"ids that look up rows": {"gather ids", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.Embed(x, 0))
	}},
	"window of a transpose": {"gather window", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		w := node(g.Window(node(gorgonia.Transpose(node(gorgonia.Concat(1, x, x)), 1, 0)), 3))
		return node(gorgonia.Slice(w, nil, gorgonia.S(0, 4)))
	}},
	"rows told apart by a constant": {"+", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		n := tensor.New(tensor.WithShape(g.Rows, 4), tensor.WithBacking(tensor.Range(tensor.Float32, 0, g.Rows*4)))
		return node(gorgonia.Add(x, gorgonia.NewConstant(n)))
	}},
	"turned potentials": {"transpose", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Transpose(node(gorgonia.Concat(1, x, x)), 1, 0))
	}},
}

// Build refuses a graph that mixes rows of different examples and names the op.
func TestMixedRowsAreRefused(t *testing.T) {
	for name, c := range mixing {
		_, err := nets.Build(ownSpec(c.graph), graph.Input{Dim: 3, Vocab: []int{8}})
		if err == nil || !strings.Contains(err.Error(), `op "`+c.op) {
			t.Errorf("%s: error %v, want one about op %q", name, err, c.op)
		}
	}
}

// Potentials that all examples share may depend on parameters only.
func TestSharedPotentialsDependOnNoInput(t *testing.T) {
	spec := graph.Spec{Name: "own", Params: []graph.Param{{Name: "in", Shape: []int{3, 2}, Init: graph.Glorot}},
		Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			x := node(gorgonia.Mul(g.Features(), g.Param("in")))
			return x, node(gorgonia.Slice(x, gorgonia.S(0, 2), nil)), nil
		}}
	if _, err := nets.Build(spec, graph.Input{Dim: 3}); err == nil || !strings.Contains(err.Error(), `op "slice`) {
		t.Errorf("rows cut out as transitions: %v", err)
	}
	spec.Build = func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
		x := node(gorgonia.Mul(g.Features(), g.Param("in")))
		return x, node(gorgonia.Mul(node(gorgonia.Transpose(x, 1, 0)), x)), nil
	}
	if _, err := nets.Build(spec, graph.Input{Dim: 3}); err == nil ||
		!strings.Contains(err.Error(), `op "matrix product`) {
		t.Errorf("transitions made of all rows: %v", err)
	}
}
