package nets_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// stub is a structure of which only the name matters.
type stub struct {
	structured.Structure
	name string
}

func (s stub) Name() string { return s.name }

var (
	// candidates is the form of a choice among positions.
	candidates = structured.Form{Structure: stub{name: "choice"},
		Parts: []structured.Shape{{Name: "candidate", Rows: structured.Positions, Width: 1}}}
	// grid is the form of windows in a grid of cells: a score of each cell, of each height and width, and a part that
	// the structure fills.
	grid = structured.Form{Structure: stub{name: "window"},
		Parts: []structured.Shape{{Name: "cell", Rows: structured.Positions, Width: 1},
			{Name: "size", Rows: structured.Tied, Width: 7}, {Name: "loss", Rows: structured.Examples, Width: 1}}}
)

var mapNets = []struct {
	name   string
	config nets.Config
	input  graph.Input
	affine bool
}{
	{"linear", nets.Config{Net: "linear"}, graph.Input{Dim: 5}, true},
	{"linear, window", nets.Config{Net: "linear", Window: 3}, graph.Input{Dim: 2}, true},
	{"mlp", nets.Config{Net: "mlp", Hidden: []int{4}, Dropout: 0.2}, graph.Input{Dim: 5}, false},
	{"words", nets.Config{Net: "embed", Channels: []int{5}}, graph.Input{Vocab: []int{7}}, false},
	{"deep", nets.Config{Net: "deep", Channels: []int{5}, CharEmbed: 2, CharChannels: 3},
		graph.Input{Vocab: []int{7}, Characters: 9, Attributes: 13}, false},
	{"conv-map", nets.Config{Net: "conv-map", Channels: []int{4}},
		graph.Input{Dim: 18, Map: graph.Map{Height: 3, Width: 3, Channels: 2}}, false},
	{"conv-map, wide", nets.Config{Net: "conv-map", Channels: []int{3, 2}, Kernel: 3, Hidden: []int{4}, Dropout: 0.3},
		graph.Input{Dim: 24, Map: graph.Map{Height: 4, Width: 3, Channels: 2}}, false},
	{"conv-crop", nets.Config{Net: "conv-crop", Channels: []int{4, 3}, Hidden: []int{5}, Activation: graph.Tanh},
		graph.Input{Dim: 126, Map: graph.Map{Height: 7, Width: 6, Channels: 3}}, false},
	{"conv-crop, beside", nets.Config{Net: "conv-crop", Channels: []int{4}, Hidden: []int{5}, Dropout: 0.2},
		graph.Input{Dim: 129, Map: graph.Map{Height: 7, Width: 6, Channels: 3}}, false},
	{"conv-map, one beside", nets.Config{Net: "conv-map", Channels: []int{4}},
		graph.Input{Dim: 19, Map: graph.Map{Height: 3, Width: 3, Channels: 2}}, false},
	{"stack of pixels", nets.Config{Net: nets.StackNet, Stack: "- pixels:\n" +
		"  - conv: {channels: 3, kernel: 2, stride: 2, activation: tanh}\n  - pool\n  - flatten\n- features\n" +
		"- dense: {units: 3, activation: tanh}\n"},
		graph.Input{Dim: 44, Map: graph.Map{Height: 5, Width: 4, Channels: 2}}, false},
	{"stack of pixels, dropout",
		nets.Config{Net: nets.StackNet, Stack: "- pixels: [{conv: 2}, flatten, activation, dropout]\n",
			Dropout: 0.2, Activation: graph.Tanh},
		graph.Input{Dim: 14, Map: graph.Map{Height: 3, Width: 2, Channels: 2}}, false},
	{"stack", nets.Config{Net: nets.StackNet, Stack: "- features\n- image\n" +
		"- conv: {channels: 3, kernel: 2, stride: 2, padding: 1, activation: tanh}\n- conv: 2\n- flatten\n- dense: 3\n"},
		graph.Input{Dim: 24, Map: graph.Map{Height: 4, Width: 3, Channels: 2}}, false},
}

// Presets and stacks score any structure whose parts are per position, tied or per example, as Gorgonia's TapeMachine
// does in float64.
func TestOtherStructuresEqualGorgonia(t *testing.T) {
	for _, form := range []structured.Form{candidates, grid} {
		for _, c := range mapNets {
			for _, lengths := range [][]int{{5, 1, 0, 9}, {3}} {
				t.Run(fmt.Sprint(form.Structure.Name(), c.name, lengths), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(41, 42))
					net, err := nets.Make(c.config, c.input, nets.Output{Form: form})
					must(t, err)
					if net.Affine() != c.affine {
						t.Errorf("Affine() is %v", net.Affine())
					}
					var batch structured.Batch
					batch.Reset(randomData(rng, c.input, 3, lengths...), seq(len(lengths)))
					checkAgainst(t, newReference(t, net, &batch, 7), net, &batch, randomVector(rng, net.Dim(), 0.5), 7, rng)
					if len(lengths) > 1 {
						everyParameterCounts(t, net, &batch, rng)
					}
				})
			}
		}
	}
}

// everyParameterCounts fails if the gradient of some parameter is zero.
func everyParameterCounts(t *testing.T, net *nets.Net, batch *structured.Batch, rng *rand.Rand) {
	t.Helper()
	worker, grad := net.NewNetWorker(), make([]float32, net.Dim())
	must(t, worker.Score(randomVector(rng, net.Dim(), 0.5), batch, new(structured.Potentials)))
	must(t, worker.Pullback(randomMarginals(rng, batch, net.Form()), grad))
	for _, a := range net.Layout() {
		if !slices.ContainsFunc(a.Of(grad), func(x float32) bool { return x != 0 }) {
			t.Errorf("the potentials do not depend on parameter %s", a.Name)
		}
	}
}

// Presets score chains of maps, too.
func TestMapsOfChains(t *testing.T) {
	input := graph.Input{Dim: 24, Map: graph.Map{Height: 4, Width: 3, Channels: 2}}
	rng := rand.New(rand.NewPCG(43, 44))
	net := mustNew(t, nets.Config{Net: "conv-crop", Channels: []int{3}, Hidden: []int{4}}, input, 3)
	var batch structured.Batch
	batch.Reset(randomData(rng, input, 3, 5, 1), seq(2))
	checkAgainst(t, newReference(t, net, &batch, 0), net, &batch, randomVector(rng, net.Dim(), 0.5), 0, rng)
}

// The defaults of conv-map are the paper's; those of conv-crop depend on the size of the crops.
func TestMapDefaults(t *testing.T) {
	for _, c := range []struct {
		net    string
		m      graph.Map
		layout string
	}{
		{"conv-map", graph.Map{Height: 3, Width: 3, Channels: 256}, "conv1.weight[256 16] conv1.bias[16] " +
			"candidate.weight[144 1] candidate.bias[1]"},
		{"conv-crop", graph.Map{Height: 24, Width: 16, Channels: 3}, "conv1.weight[27 16] conv1.bias[16] " +
			"conv2.weight[144 32] conv2.bias[32] " +
			"hidden1.weight[768 64] hidden1.bias[64] candidate.weight[64 1] candidate.bias[1]"},
		{"conv-crop", graph.Map{Height: 32, Width: 32, Channels: 3}, "conv1.weight[27 16] conv1.bias[16] conv2.weight[144 " +
			"32] conv2.bias[32] conv3.weight[288 32] conv3.bias[32] " +
			"hidden1.weight[512 64] hidden1.bias[64] candidate.weight[64 1] candidate.bias[1]"},
	} {
		net, err := nets.Make(nets.Config{Net: c.net}, graph.Input{Dim: c.m.Len(), Map: c.m}, nets.Output{Form: candidates})
		must(t, err)
		if got := net.Layout().String(); got != c.layout {
			t.Errorf("%s of %v: %s", c.net, c.m, got)
		}
	}
}

func TestOtherStructuresRefused(t *testing.T) {
	m := graph.Map{Height: 4, Width: 3, Channels: 2}
	in := graph.Input{Dim: 24, Map: m}
	for _, c := range []struct {
		config  nets.Config
		input   graph.Input
		message string
	}{
		{nets.Config{Net: "biaffine"}, in, "net biaffine scores the arcs of trees, not choices"},
		{nets.Config{Net: "conv-map"}, graph.Input{Dim: 24}, "reads maps"},
		{nets.Config{Net: "conv-crop", Channels: []int{2, 2, 2}, Kernel: 6, Stride: 1}, in, "convolution 3: a filter of " +
			"6×6 cells does not fit maps of 2×1"},
		{nets.Config{Net: "mlp", Kernel: 3}, in, "net mlp has no kernel; conv-crop and conv-map do"},
		{nets.Config{Net: "linear", Edges: nets.EdgesPosition}, in, "a choice has no edges"},
		{nets.Config{Net: nets.StackNet, Stack: "- features\n", ArcUnits: 3}, in,
			"a stack that scores choices has no arc-units"},
		{nets.Config{Net: "linear"}, graph.Input{Dim: 23, Map: m}, "maps of 4×3×2 have 24 numbers"},
		{nets.Config{Net: nets.StackNet, Stack: "- features\n- image\n", StackFile: "my.yaml"}, graph.Input{Dim: 24},
			"my.yaml:2: layer image: size: the data has no maps"},
		{nets.Config{Net: nets.StackNet, Stack: "- features\n- conv: 2\n", StackFile: "my.yaml"}, in,
			"my.yaml:2: layer conv: its rows are not pixels"},
		{nets.Config{Net: nets.StackNet, Stack: "- features\n- image\n- conv: {channels: 2, kernel: 9, padding: 1}\n",
			StackFile: "my.yaml"}, in, "my.yaml:3: layer conv: a filter of 9×9"},
	} {
		_, err := nets.Make(c.config, c.input, nets.Output{Form: candidates})
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%+v: %v, expected %q", c.config, err, c.message)
		}
	}
}
