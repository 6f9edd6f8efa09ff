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

// The ops of pretrained encoders.

var encoderParams = []graph.Param{
	{Name: "words", Shape: []int{5, 8}}, {Name: "places", Shape: []int{75, 8}},
	{Name: "gain", Shape: []int{8}}, {Name: "bias", Shape: []int{8}},
	{Name: "query", Shape: []int{8, 8}}, {Name: "key", Shape: []int{8, 8}}, {Name: "key-bias", Shape: []int{8}},
	{Name: "value", Shape: []int{8, 8}},
	{Name: "distances", Shape: []int{16, 2}}, {Name: "keys", Shape: []int{16, 8}}, {Name: "queries", Shape: []int{16, 8}},
	{Name: "up", Shape: []int{12, 8}}, {Name: "up-bias", Shape: []int{12}}, {Name: "down", Shape: []int{8, 12}},
}

var encoderGraphs = map[string]func(g *graph.Graph) *gorgonia.Node{
	"places":         places,
	"normal gelu":    func(g *graph.Graph) *gorgonia.Node { return node(g.Activate(places(g), graph.NormalGELU)) },
	"norm":           func(g *graph.Graph) *gorgonia.Node { return norm8(g, places(g), true, 1e-12) },
	"without bias":   func(g *graph.Graph) *gorgonia.Node { return norm8(g, places(g), false, 0.3) },
	"other rotation": func(g *graph.Graph) *gorgonia.Node { return node(g.RotateBy(places(g), 8, 4, 20)) },
	"block":          encoderBlock,
	"window": func(g *graph.Graph) *gorgonia.Node {
		return related(g, graph.Related{Scale: 0.6, Window: 2})
	},
	"mirrored buckets": func(g *graph.Graph) *gorgonia.Node {
		return related(g, graph.Related{Scale: 0.5, Buckets: graph.Buckets{Count: 16, Exact: 4, Longest: 20, Mirrored: true}},
			"distances")
	},
	"exact distances": func(g *graph.Graph) *gorgonia.Node {
		return related(g, graph.Related{Scale: 0.5, Buckets: graph.Buckets{Count: 16, Exact: 8}}, "keys")
	},
	"logarithms of distances": func(g *graph.Graph) *gorgonia.Node {
		return related(g, graph.Related{Scale: 0.4, Buckets: graph.Buckets{Count: 16, Exact: 4, Longest: 30}}, "keys",
			"queries")
	},
	"queries in a window": func(g *graph.Graph) *gorgonia.Node {
		return related(g, graph.Related{Scale: 0.4, Window: 20, Buckets: graph.Buckets{Count: 16, Exact: 4, Longest: 30}},
			"queries", "distances")
	},
}

func places(g *graph.Graph) *gorgonia.Node {
	return node(gorgonia.Add(node(g.Embed(g.Param("words"), 0)), node(g.Places(g.Param("places"), 3))))
}

func norm8(g *graph.Graph, x *gorgonia.Node, biased bool, floor float64) *gorgonia.Node {
	var bias *gorgonia.Node
	if biased {
		bias = g.Param("bias")
	}
	return node(g.LayerNormAbove(x, g.Param("gain"), bias, floor))
}

// related is attention of two heads with the named tables.
func related(g *graph.Graph, o graph.Related, tables ...string) *gorgonia.Node {
	o.Heads = 2
	x := places(g)
	times := func(w string) *gorgonia.Node { return node(gorgonia.Mul(x, g.Param(w))) }
	table := func(name string) *gorgonia.Node {
		if slices.Contains(tables, name) {
			return g.Param(name)
		}
		return nil
	}
	joined := node(gorgonia.Concat(1, times("query"), times("key"), times("value")))
	return node(g.RelatedAttention(o, joined, table("distances"), table("keys"), table("queries")))
}

// encoderBlock has everything that forward programs fuse.
func encoderBlock(g *graph.Graph) *gorgonia.Node {
	times := func(x *gorgonia.Node, w string) *gorgonia.Node {
		return node(gorgonia.Mul(x, node(gorgonia.Transpose(g.Param(w), 1, 0))))
	}
	x := norm8(g, places(g), true, 1e-12)
	a := node(g.Attention(times(x, "query"), node(g.AddBias(times(x, "key"), g.Param("key-bias"))), times(x, "value"), 2))
	y := norm8(g, node(gorgonia.Add(times(a, "value"), x)), false, 1e-5)
	h := node(g.Activate(node(g.AddBias(times(y, "up"), g.Param("up-bias"))), graph.NormalGELU))
	return node(gorgonia.Add(y, times(h, "down")))
}

func encoderSpec(build func(g *graph.Graph) *gorgonia.Node) graph.Spec {
	return graph.Spec{Name: "encoder", Params: encoderParams,
		Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			return build(g), nil, nil
		}}
}

var encoderLengths = [][]int{{5, 3, 1, 0, 2}, {8}, {1}, {0, 17, 4}, {67, 1}}

// Score, pullback and push-forward of the ops equal those of Gorgonia's TapeMachine in float64 and finite differences.
func TestEncoderOpsEqualGorgonia(t *testing.T) {
	for name, build := range encoderGraphs {
		for _, lengths := range encoderLengths {
			t.Run(fmt.Sprint(name, lengths), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(51, 52))
				input := graph.Input{Vocab: []int{5}}
				net, err := nets.Build(encoderSpec(build), input)
				must(t, err)
				var batch structured.Batch
				batch.Reset(randomData(rng, input, 4, lengths...), seq(len(lengths)))
				checkAgainst(t, newReference(t, net, &batch, 0), net, &batch, randomVector(rng, net.Dim(), 0.7), 0, rng)
			})
		}
	}
}

// Forward programs compute what programs with a pullback compute, with fewer instructions.
func TestForwardPrograms(t *testing.T) {
	for name, build := range encoderGraphs {
		rng := rand.New(rand.NewPCG(53, 54))
		input := graph.Input{Vocab: []int{5}}
		spec := encoderSpec(build)
		net, err := nets.Build(spec, input)
		must(t, err)
		w := randomVector(rng, net.Dim(), 0.7)
		factors := &graph.Factors{}
		for _, lengths := range encoderLengths {
			var batch structured.Batch
			batch.Reset(randomData(rng, input, 4, lengths...), seq(len(lengths)))
			var θ structured.Potentials
			must(t, net.NewWorker().Score(w, &batch, &θ))
			p, err := graph.CompileForward(&spec, net.Layout(), input, graph.Size{Rows: 96})
			must(t, err)
			m := graph.NewMachine(p, input)
			m.Factors = factors
			must(t, m.Load(p, input, w, &batch))
			m.Run(p.Forward)
			want := widen(θ.Parts[0].Values)
			mustEqual(t, name, m.At(p.Outputs[0])[:len(want)], want, 1e-5)
			var ops []string
			for _, in := range p.Forward {
				ops = append(ops, in.Op.String())
			}
			if all := strings.Join(ops, ", "); name == "block" && (len(ops) != 10 || !slices.Contains(ops, "linear 8→24") ||
				!slices.Contains(ops, "linear 8→12 gelu_erf") || !slices.Contains(ops, "linear 12→8 residual") ||
				strings.Contains(all, "normalise")) {
				t.Errorf("a block takes the ops %s", all)
			}
		}
	}
}

// A product of parameters only is not a product of positions, even if it has as many rows.
func TestForwardProgramOfParameters(t *testing.T) {
	spec := encoderSpec(func(g *graph.Graph) *gorgonia.Node {
		x := node(gorgonia.Mul(g.Param("up"), node(gorgonia.Transpose(g.Param("key"), 1, 0)))) // [12×8]
		sum := node(gorgonia.Reshape(node(gorgonia.Sum(x, 0)), tensor.Shape{8}))
		return node(g.AddBias(places(g), sum))
	})
	input := graph.Input{Vocab: []int{5}}
	net, err := nets.Build(spec, input)
	must(t, err)
	rng := rand.New(rand.NewPCG(55, 56))
	var batch structured.Batch
	batch.Reset(randomData(rng, input, 4, 3), []int{0})
	w := randomVector(rng, net.Dim(), 0.7)
	var θ structured.Potentials
	must(t, net.NewWorker().Score(w, &batch, &θ))
	p, err := graph.CompileForward(&spec, net.Layout(), input, graph.Size{Rows: 12})
	must(t, err)
	m := graph.NewMachine(p, input)
	m.Factors = &graph.Factors{}
	must(t, m.Load(p, input, w, &batch))
	m.Run(p.Forward)
	mustEqual(t, "potentials", m.At(p.Outputs[0])[:24], widen(θ.Parts[0].Values), 1e-5)
	if math.Abs(float64(θ.Parts[0].Values[0])) == 0 {
		t.Error("nothing was computed")
	}
}

func TestPlacesErrors(t *testing.T) {
	for _, first := range []int{-1, 75} {
		spec := encoderSpec(func(g *graph.Graph) *gorgonia.Node { return node(g.Places(g.Param("places"), first)) })
		if _, err := nets.Build(spec, graph.Input{Vocab: []int{5}}); err == nil ||
			!strings.Contains(err.Error(), "Places from row") {
			t.Errorf("error %v, want one about places", err)
		}
	}
}

// Gradients of weights that a network reads transposed are products that are added in place.
func TestGradientsAreNotTransposed(t *testing.T) {
	spec, input := encoderSpec(encoderBlock), graph.Input{Vocab: []int{5}}
	net, err := nets.Build(spec, input)
	must(t, err)
	p, err := graph.Compile(&spec, net.Layout(), input, graph.Size{Rows: 16})
	must(t, err)
	products, permutes := 0, 0
	for _, in := range p.Pullback {
		if strings.HasPrefix(in.Op.String(), "permute") {
			permutes++
		}
		if _, ok := in.Op.(graph.MatMul); ok && in.Out.Space == graph.SpaceGradient && in.Accumulate {
			products++
		}
	}
	if products != 4 || permutes != 1 { // the matrix of values is read twice
		t.Errorf("%d products are added to the gradient, and %d matrices are transposed; want 4 and 1", products, permutes)
	}
}
