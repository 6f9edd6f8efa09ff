package cudanets_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// withPairs adds the pair tables that trees have.
func withPairs(d *structured.Dataset) *structured.Dataset {
	offsets := []int{0}
	for i := range d.Len() {
		n := d.Length(i)
		offsets = append(offsets, offsets[i]+n*n)
	}
	d.Labels = nil
	d.Tables = []*structured.Table{{Name: trees.ArcRows, Offsets: offsets}, {Name: trees.LabelRows, Offsets: offsets}}
	return d
}

// everyPair has all ops on pairs, both overwriting and accumulating.
var everyPair = graph.Spec{
	Name: "pairs", Form: trees.SpanningTree{}.Form(3),
	Params: []graph.Param{{Name: "in", Shape: []int{3, 4}}, {Name: "forms", Shape: []int{4, 12}},
		{Name: "root", Shape: []int{4}},
		{Name: "out", Shape: []int{4, 3}}},
	Parts: func(g *graph.Graph) ([]*gorgonia.Node, error) {
		x := node(gorgonia.Mul(g.Features(), g.Param("in")))
		forms := node(gorgonia.Mul(x, g.Param("forms")))
		arc := node(g.Bilinear(x, node(gorgonia.Tanh(x)), g.Param("root")))
		label := node(gorgonia.Add(node(g.Dependents(node(gorgonia.Mul(x, g.Param("out"))))),
			node(g.Bilinear(forms, x, g.Param("root")))))
		label = node(gorgonia.Add(label, node(gorgonia.Mul(node(gorgonia.Tanh(node(g.Heads(x)))), g.Param("out")))))
		return []*gorgonia.Node{arc, label}, nil
	},
}

func pairNets(t *testing.T) map[string]func() (*nets.Net, *structured.Dataset) {
	build := func(c nets.Config, input graph.Input) func() (*nets.Net, *structured.Dataset) {
		return func() (*nets.Net, *structured.Dataset) {
			net, err := nets.Make(c, input, nets.Output{Labels: 3, Form: trees.SpanningTree{}.Form(3)})
			cudatest.Must(t, err)
			return net, withPairs(cudatest.RandomData(rand.New(rand.NewPCG(3, 4)), input, 3, 3, 1, 0, 19, 2, 5))
		}
	}
	return map[string]func() (*nets.Net, *structured.Dataset){
		"words": build(nets.Config{Net: "biaffine", Channels: []int{6}, Embed: []int{4, 3}, Window: 3, ArcUnits: 5,
			LabelUnits: 4, Dropout: 0.2}, graph.Input{Vocab: []int{30, 5}}),
		"characters": build(nets.Config{Net: "biaffine", Channels: []int{6}, Embed: []int{4}, Window: 3, ArcUnits: 5,
			LabelUnits: 4, CharChannels: 3, CharEmbed: 2}, graph.Input{Vocab: []int{30}, Characters: 8}),
		"features": build(nets.Config{Net: "biaffine", Channels: []int{6}, Window: 1, ArcUnits: 1, LabelUnits: 3,
			Activation: graph.Tanh}, graph.Input{Dim: 3}),
		"recurrent": build(nets.Config{Net: "biaffine", Recurrent: []int{4, 3}, ArcUnits: 3, LabelUnits: 2,
			Activation: graph.SiLU}, graph.Input{Vocab: []int{30}}),
		"every op": func() (*nets.Net, *structured.Dataset) {
			net, err := nets.Build(everyPair, graph.Input{Dim: 3})
			cudatest.Must(t, err)
			return net, withPairs(cudatest.RandomData(rand.New(rand.NewPCG(5, 6)), graph.Input{Dim: 3}, 3, 3, 1, 0, 19, 2, 5))
		},
	}
}

// For networks on pairs, potentials, pullback, push-forward and the linearised network on the device equal the CPU's.
func TestPairsEqualCPU(t *testing.T) {
	for name, make := range pairNets(t) {
		for _, examples := range [][]int{{3, 0, 1, 2, 5, 4}, {4, 1}, {3}} {
			t.Run(fmt.Sprint(name, examples), func(t *testing.T) {
				d := cudatest.Device(t)
				net, data := make()
				checkParts(t, net, data, examples, cudanets.NewPairBatch(resident.NewData(d, data), data.Len()+1, 32, 19, 410))
			})
		}
	}
}

// Ops without a kernel are refused with a message.
func TestPairsRefused(t *testing.T) {
	d := cudatest.Device(t)
	data := withPairs(cudatest.RandomData(rand.New(rand.NewPCG(1, 1)), graph.Input{Dim: 3}, 3, 3, 2))
	reserve := func(spec graph.Spec, set *structured.Dataset) error {
		net, err := nets.Build(spec, graph.Input{Dim: 3})
		cudatest.Must(t, err)
		return cudanets.NewExecutor(d, net,
			device.NewBLAS(d, false)).Reserve(cudanets.NewPairBatch(resident.NewData(d, set), 2, 8, 3, 16))
	}
	masked := everyPair
	masked.Parts = func(g *graph.Graph) ([]*gorgonia.Node, error) {
		x := node(gorgonia.Mul(g.Features(), g.Param("in")))
		return []*gorgonia.Node{nil, node(gorgonia.Mul(node(g.Dropout(node(g.Heads(x)), 0.5)), g.Param("out")))}, nil
	}
	if err := reserve(masked, data); err == nil || !strings.Contains(err.Error(), "dropout mask") ||
		!strings.Contains(err.Error(), "no kernel") {
		t.Errorf("dropout on pairs: %v", err)
	}
	four := everyPair
	more := structured.Shape{Name: "more", Width: 4}
	four.Form.Parts = append(four.Form.Parts[:2:2], more, more)
	four.Parts = func(g *graph.Graph) ([]*gorgonia.Node, error) {
		all, err := everyPair.Parts(g)
		return append(all, g.Param("root"), g.Param("root")), err
	}
	if err := reserve(four, data); err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), "4 parts") {
		t.Errorf("four parts: %v", err)
	}
	data.Tables[1] = &structured.Table{Name: trees.LabelRows, Offsets: []int{0, 8, 12}}
	if err := reserve(everyPair, data); err == nil || !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "3×3") {
		t.Errorf("8 pairs of 3 words: %v", err)
	}
}
