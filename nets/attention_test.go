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

// attentionGraphs compute potentials [Rows×4] of x [Rows×12].
var attentionGraphs = map[string]func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node{
	"one head": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.SelfAttention(x, 1)) },
	"two heads": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.SelfAttention(node(gorgonia.Tanh(x)), 2))
	},
	"heads of one channel": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.SelfAttention(x, 4)) },
	"three matrices": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		of := func(lo int) *gorgonia.Node { return node(gorgonia.Slice(x, nil, gorgonia.S(lo, lo+4))) }
		return node(g.Attention(of(4), node(gorgonia.Sin(of(0))), of(8), 2))
	},
	"twice": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		y := node(g.SelfAttention(x, 2))
		return node(gorgonia.Add(y, node(g.Attention(y, y, node(gorgonia.Tanh(y)), 1))))
	},
	"rotation": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.SelfAttention(node(g.Rotate(x, 8, 2)), 2))
	},
	"rotation of one head": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		y := node(g.Rotate(node(gorgonia.Tanh(node(g.Rotate(x, 12, 12)))), 4, 4))
		return node(gorgonia.Slice(y, nil, gorgonia.S(2, 6)))
	},
	"sinusoids": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.SelfAttention(node(gorgonia.Tanh(node(g.AddPositions(x)))), 2))
	},
}

func attentionSpec(middle func(*graph.Graph, *gorgonia.Node) *gorgonia.Node) graph.Spec {
	return graph.Spec{Name: "attention", Params: []graph.Param{{Name: "in", Shape: []int{3, 12}, Init: graph.Glorot}},
		Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			return middle(g, node(gorgonia.Mul(g.Features(), g.Param("in")))), nil, nil
		}}
}

// Score, pullback and push-forward of the ops equal those of Gorgonia's TapeMachine in float64 and finite differences,
// for examples of many lengths: shorter and longer than a tile, and of length 1.
func TestAttentionEqualsGorgonia(t *testing.T) {
	for name, layers := range attentionGraphs {
		for _, lengths := range [][]int{{5, 3, 1, 0, 2}, {8}, {1}, {0, 17, 4}, {67}, {130, 1, 64},
			slices.Repeat([]int{1}, 9)} {
			t.Run(fmt.Sprint(name, lengths), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(41, 42))
				net, err := nets.Build(attentionSpec(layers), graph.Input{Dim: 3})
				must(t, err)
				var batch structured.Batch
				batch.Reset(randomData(rng, graph.Input{Dim: 3}, 4, lengths...), seq(len(lengths)))
				checkAgainst(t, newReference(t, net, &batch, 0), net, &batch, randomVector(rng, net.Dim(), 0.7), 0, rng)
			})
		}
	}
}

// Attention follows its formula, computed here with plain loops on the parts of x.
func TestAttentionFormula(t *testing.T) {
	const n, heads, size = 5, 2, 3
	rng := rand.New(rand.NewPCG(43, 44))
	width := heads * size
	spec := graph.Spec{Name: "formula", Params: []graph.Param{{Name: "one", Shape: []int{3 * width, 3 * width}}},
		Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			return node(g.SelfAttention(node(gorgonia.Mul(g.Features(), g.Param("one"))), heads)), nil, nil
		}}
	net, err := nets.Build(spec, graph.Input{Dim: 3 * width})
	must(t, err)
	w := make([]float32, net.Dim())
	for i := range 3 * width {
		w[i*3*width+i] = 1
	}
	data := randomData(rng, graph.Input{Dim: 3 * width}, width, n)
	var batch structured.Batch
	batch.Reset(data, []int{0})
	var θ structured.Potentials
	must(t, net.NewWorker().Score(w, &batch, &θ))
	at := func(row, part, head, e int) float64 {
		return float64(data.Features[row*3*width+part*width+head*size+e])
	}
	var want []float64
	for i := range n {
		for h := range heads {
			var top, below [size]float64
			for j := range n {
				s := 0.0
				for e := range size {
					s += at(i, 0, h, e) * at(j, 1, h, e)
				}
				p := math.Exp(s / math.Sqrt(size))
				for e := range size {
					top[e] += p * at(j, 2, h, e)
					below[e] += p
				}
			}
			for e := range size {
				want = append(want, top[e]/below[e])
			}
		}
	}
	mustEqual(t, "attention", θ.Parts[0].Values, want, 1e-5)
}

// Large scores do not overflow, and a NaN weight shows in the potentials.
func TestAttentionIsStable(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 46))
	net, err := nets.Build(attentionSpec(attentionGraphs["two heads"]), graph.Input{Dim: 3})
	must(t, err)
	large, err := nets.Build(attentionSpec(attentionGraphs["one head"]), graph.Input{Dim: 3})
	must(t, err)
	var batch structured.Batch
	batch.Reset(randomData(rng, graph.Input{Dim: 3}, 4, 20, 3), []int{0, 1})
	var θ structured.Potentials
	must(t, large.NewWorker().Score(randomVector(rng, large.Dim(), 1000), &batch, &θ))
	for i, x := range θ.Parts[0].Values {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			t.Fatalf("potential %d is %g", i, x)
		}
	}
	w := randomVector(rng, net.Dim(), 1)
	w[0] = float32(math.NaN())
	must(t, net.NewWorker().Score(w, &batch, &θ))
	if x := θ.Parts[0].Values[0]; x == x {
		t.Errorf("a NaN weight gives %g", x)
	}
}

// Every example has the same potentials and gradient alone and in a batch.
func TestAttentionOfExamplesDoesNotMix(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 48))
	net, err := nets.Build(attentionSpec(attentionGraphs["rotation"]), graph.Input{Dim: 3})
	must(t, err)
	data := randomData(rng, graph.Input{Dim: 3}, 4, 6, 70, 1, 12, 0)
	w := randomVector(rng, net.Dim(), 0.7)
	var all, one structured.Batch
	all.Reset(data, []int{3, 1, 4, 2, 0})
	var θ, alone structured.Potentials
	worker, other := net.NewNetWorker(), net.NewNetWorker()
	must(t, worker.Score(w, &all, &θ))
	v := randomMarginals(rng, &all, net.Form())
	grad, sum := make([]float32, net.Dim()), make([]float32, net.Dim())
	must(t, worker.Pullback(v, grad))
	for c, e := range all.Examples {
		one.Reset(data, []int{e})
		must(t, other.Score(w, &one, &alone))
		mustEqual(t, "node", alone.Parts[0].Values, widen(θ.Parts[0].Of(c)), 1e-6)
		var vc structured.Marginals
		v.View(c, &vc)
		must(t, other.Pullback(&vc, sum))
	}
	mustEqual(t, "gradient", sum, widen(grad), 1e-5)
}

func TestAttentionErrors(t *testing.T) {
	for _, c := range []struct {
		want  string
		graph func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node
	}{
		{"3·heads·E", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.SelfAttention(x, 5)) }},
		{"3·heads·E", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.SelfAttention(x, 0)) }},
		{"expected three matrices", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.Attention(x, node(gorgonia.Slice(x, nil, gorgonia.S(0, 4))), x, 1))
		}},
		{"even size", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Rotate(x, 12, 3)) }},
		{"whole heads", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Rotate(x, 6, 4)) }},
		{"even C", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.AddPositions(node(gorgonia.Slice(x, nil, gorgonia.S(0, 3)))))
		}},
		{`op "attention`, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // of a transposed matrix
			square := node(gorgonia.Transpose(node(gorgonia.Slice(x, nil, gorgonia.S(0, 8))), 1, 0))
			return node(g.Attention(square, square, square, 2))
		}},
		{`op "rotation`, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			square := node(gorgonia.Transpose(node(gorgonia.Slice(x, nil, gorgonia.S(0, 8))), 1, 0))
			return node(g.Rotate(square, 8, 2))
		}},
		{`op "sinusoids`, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.AddPositions(node(gorgonia.Transpose(node(gorgonia.Slice(x, nil, gorgonia.S(0, 8))), 1, 0))))
		}},
		{`op "sum`, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // rows stay rows behind attention
			y := node(g.SelfAttention(x, 2))
			s := node(gorgonia.Reshape(node(gorgonia.Sum(y, 0)), tensor.Shape{1, 4}))
			return node(gorgonia.BroadcastAdd(y, s, nil, []byte{0}))
		}},
	} {
		if _, err := nets.Build(attentionSpec(c.graph), graph.Input{Dim: 3}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one about %q", err, c.want)
		}
	}
}
