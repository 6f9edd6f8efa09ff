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
	{"three heads of one channel", 9, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.SelfAttention(x, 3))
	}},
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

// A chain's results have the same bits wherever it lies in a batch, and with and without tiles in shared memory; they
// are the CPU's without, too.
func TestAttentionTiles(t *testing.T) {
	for _, c := range attentionGraphs {
		t.Run(c.name, func(t *testing.T) {
			data := cudatest.RandomData(rand.New(rand.NewPCG(9, 10)), graph.Input{Dim: 3}, 3, 3, 1, 0, 39, 2, 5)
			net := attentionNet(t, c.width, c.graph)
			r := newRig(t, cudatest.Device(t), net, data, 56)
			e, w := r.executor(), r.upload(cudatest.Vector(r.rng, net.Dim(), 0.5))
			of := func(examples []int, example, bytes int) []float32 {
				defer cudanets.SetMostTiles(cudanets.SetMostTiles(bytes))
				r.batch.Set(examples)
				e.Score(w, r.batch, r.θ.Parts())
				scores, _ := r.potentials()
				width, first := net.Form().Parts[0].Width, 0
				for _, i := range examples[:slices.Index(examples, example)] {
					first += data.Length(i)
				}
				return scores[first*width:][:data.Length(example)*width]
			}
			want := of([]int{3}, 3, 1<<20)
			for _, examples := range [][]int{{3}, {0, 3}, {5, 4, 3, 1}} {
				for _, bytes := range []int{0, 1 << 20} {
					if !slices.Equal(of(examples, 3, bytes), want) {
						t.Errorf("batch %d with %d bytes for tiles: other bits", examples, bytes)
					}
				}
			}
			defer cudanets.SetMostTiles(cudanets.SetMostTiles(0))
			newRig(t, cudatest.Device(t), net, data, 56).check([]int{3, 0, 1, 2, 5, 4}, 0)
		})
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
