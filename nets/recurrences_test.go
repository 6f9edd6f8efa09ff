package nets_test

import (
	"fmt"
	"math"
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

// recurrentGraphs are layers on x [Rows×4].
var recurrentGraphs = map[string]func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node{
	"forward": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.LinearRecurrence(node(g.Activate(x, graph.Sigmoid)), node(gorgonia.Mul(x, g.Param("square"))), false))
	},
	"reverse": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.LinearRecurrence(node(gorgonia.Tanh(x)), node(gorgonia.Mul(x, g.Param("square"))), true))
	},
	"both": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.BidirectionalRecurrence(node(gorgonia.Tanh(node(gorgonia.Mul(x, g.Param("square"))))), x))
	},
	"factors are inputs": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.BidirectionalRecurrence(x, x))
	},
	// products with the row before are added to others
	"two layers": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		a := node(gorgonia.Tanh(node(gorgonia.Mul(x, g.Param("square")))))
		h := node(g.LinearRecurrence(a, x, true))
		return node(gorgonia.Add(a,
			node(g.LinearRecurrence(node(gorgonia.HadamardProd(a, h)), node(gorgonia.Sub(h, a)), false))))
	},
	"learned decay": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // the same factors in every row
		ones := gorgonia.NewConstant(tensor.Ones(g.Dtype, g.Rows, 1))
		decay := node(gorgonia.Mul(ones, node(gorgonia.Reshape(node(gorgonia.Sigmoid(g.Param("bias"))), tensor.Shape{1, 4}))))
		return node(g.LinearRecurrence(decay, x, false))
	},
	"constant factors and rows": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // counts positions
		ones, half := tensor.Ones(g.Dtype, g.Rows, 4), tensor.Ones(g.Dtype, g.Rows, 4)
		if err := half.Memset(constantOf(g, 0.5)); err != nil {
			panic(err)
		}
		in := gorgonia.In(g.ExprGraph)
		counts := node(g.BidirectionalRecurrence(gorgonia.NewConstant(half, in), gorgonia.NewConstant(ones, in)))
		return node(gorgonia.HadamardProd(x, counts))
	},
	"layer norm": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		gain := node(gorgonia.Add(g.Param("bias"), gorgonia.NewConstant(constantOf(g, 1))))
		return node(g.LayerNorm(node(gorgonia.Tanh(x)), gain, g.Param("bias")))
	},
	"norm of a sum": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		h := node(g.BidirectionalRecurrence(node(g.Activate(x, graph.Sigmoid)), x))
		return node(gorgonia.Add(x, node(g.Normalise(node(gorgonia.Add(h, x))))))
	},
	"gelu": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Activate(x, graph.GELU)) },
	"silu": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Activate(x, graph.SiLU)) },
	"sigmoid": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.HadamardProd(x, node(g.Activate(x, graph.Sigmoid))))
	},
}

// Score, pullback and push-forward equal those of Gorgonia's TapeMachine in float64, on long chains, on several, and
// with padding.
func TestRecurrentGraphsEqualGorgonia(t *testing.T) {
	for name, layers := range recurrentGraphs {
		for _, lengths := range [][]int{{5, 3, 1, 0, 2}, {8}, {1}, {0, 2}, {70, 4, 33}, {300}, slices.Repeat([]int{1}, 60)} {
			t.Run(fmt.Sprint(name, lengths), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(31, 32))
				net, err := nets.Build(ownSpec(layers), graph.Input{Dim: 3})
				must(t, err)
				var batch structured.Batch
				batch.Reset(randomData(rng, graph.Input{Dim: 3}, 4, lengths...), seq(len(lengths)))
				w := randomVector(rng, net.Dim(), 0.4)
				checkAgainst(t, newReference(t, net, &batch, 0), net, &batch, w, 0, rng)
			})
		}
	}
}

// A residual layer adds its input; the gain of a layer norm starts at 1, so that its output has mean 0 and variance 1.
func TestResidualAndNorm(t *testing.T) {
	input := graph.Input{Dim: 6}
	net := mustNew(t, nets.Config{Net: nets.StackNet, Stack: "- features\n- residual:\n" +
		"  - dense: {units: 6, activation: tanh}\n- norm\n", Edges: nets.EdgesNone}, input, 6)
	rng := rand.New(rand.NewPCG(37, 38))
	var batch structured.Batch
	var θ structured.Potentials
	batch.Reset(randomData(rng, input, 6, 5), []int{0})
	w := net.Init(1)
	for _, a := range net.Layout() {
		switch {
		case strings.HasPrefix(a.Name, "dense"):
			clear(a.Of(w)) // what is left is the input
		case a.Name == "node.weight": // so that the potentials are the last layer
			for i := range a.Of(w) {
				a.Of(w)[i] = 0
				if i%7 == 0 {
					a.Of(w)[i] = 1
				}
			}
		}
	}
	must(t, net.NewWorker().Score(w, &batch, &θ))
	want := make([]float64, 5*6)
	for at := 0; at < len(want); at += 6 {
		mean, variance := 0.0, 0.0
		for _, x := range batch.Data.Features[at : at+6] {
			mean += float64(x) / 6
		}
		for _, x := range batch.Data.Features[at : at+6] {
			variance += (float64(x) - mean) * (float64(x) - mean) / 6
		}
		for j := range 6 {
			want[at+j] = (float64(batch.Data.Features[at+j]) - mean) / math.Sqrt(variance+1e-5)
		}
	}
	mustEqual(t, "potentials", θ.Parts[0].Values, want, 1e-5)
	checkAgainst(t, newReference(t, net, &batch, 0), net, &batch, randomVector(rng, net.Dim(), 0.5), 0, rng)
}

func TestRecurrenceErrors(t *testing.T) {
	for _, c := range []struct {
		want  string
		graph func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node
	}{
		{"expected two [8×C]", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.LinearRecurrence(x, g.Features(), false))
		}},
		{"even number of columns", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.BidirectionalRecurrence(g.Features(), g.Features()))
		}},
		{`op "linear recurrence`, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // of a transposed matrix
			turned := node(gorgonia.Transpose(node(gorgonia.Concat(1, x, x)), 1, 0))
			return node(gorgonia.Slice(node(g.LinearRecurrence(turned, turned, false)), nil, gorgonia.S(0, 4)))
		}},
		{`op "linear recurrence`, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // rows told apart by a constant
			n := gorgonia.NewConstant(tensor.New(tensor.WithShape(g.Rows, 4),
				tensor.WithBacking(tensor.Range(tensor.Float32, 0, g.Rows*4))))
			return node(g.LinearRecurrence(n, x, false))
		}},
		{`op "normalise`, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // over rows
			return node(gorgonia.Transpose(node(g.Normalise(node(gorgonia.Transpose(x, 1, 0)))), 1, 0))
		}},
		{"expected a matrix", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.Normalise(g.Param("bias")))
		}},
	} {
		if _, err := nets.Build(ownSpec(c.graph), graph.Input{Dim: 3}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one about %q", err, c.want)
		}
	}
}

// With factors that are inputs, a recurrence is linear in the weights of its other argument, as convex methods require.
func TestAffineRecurrence(t *testing.T) {
	for _, affine := range []bool{true, false} {
		spec := graph.Spec{Name: "own", Params: []graph.Param{{Name: "in", Shape: []int{3, 3}, Init: graph.Glorot}},
			Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
				x, a := node(gorgonia.Mul(g.Features(), g.Param("in"))), g.Features()
				if !affine {
					a = x
				}
				return node(g.LinearRecurrence(a, x, false)), nil, nil
			}}
		net, err := nets.Build(spec, graph.Input{Dim: 3})
		must(t, err)
		if net.Affine() != affine {
			t.Errorf("Affine() = %v", net.Affine())
		}
	}
}
