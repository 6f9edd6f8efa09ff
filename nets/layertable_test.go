package nets_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

func layersOf(t *testing.T, net *nets.Net) []nets.Layer {
	t.Helper()
	var batch structured.Batch
	batch.Reset(net.Draw(rand.New(rand.NewPCG(1, 2)), 9, 20, 3), []int{0, 1, 2})
	rows, err := net.Layers(net.Init(1), &batch)
	must(t, err)
	return rows
}

// The table of every network has each weight once, and its shares add up to 1.
func TestLayers(t *testing.T) {
	var all []*nets.Net
	for _, p := range presets {
		all = append(all, mustNew(t, p.config, p.input, testLabels))
	}
	both := graph.Input{Vocab: []int{11}, Dim: 3}
	all = append(all, mustNew(t, nets.Config{Net: "rnn", Recurrent: []int{4}}, both, testLabels),
		mustNew(t, nets.Config{Net: "attention", Channels: []int{8}}, both, testLabels))
	all = append(all, mustNew(t, nets.Config{Net: "deep", AttributeUnits: 3},
		graph.Input{Vocab: []int{11}, Characters: 9, Attributes: 30}, testLabels))
	parser, err := nets.Make(nets.Config{Net: "biaffine", Channels: []int{6}, Embed: []int{4}, ArcUnits: 5, LabelUnits: 4,
		Dropout: 0.1}, graph.Input{Vocab: []int{11}},
		nets.Output{Labels: 3, Form: trees.SpanningTree{}.Form(3)})
	must(t, err)
	all = append(all, parser)
	for _, net := range all {
		weights, share := 0, 0.0
		for _, l := range layersOf(t, net) {
			weights, share = weights+l.Weights, share+l.Share
			if l.Name == "" || l.Output == "" || !(l.Share >= 0) {
				t.Errorf("net %s: layer %+v", net.Name(), l)
			}
		}
		if weights != net.Dim() || math.Abs(share-1) > 1e-9 {
			t.Errorf("net %s: %d weights in the table, %d in the net; shares add up to %v", net.Name(),
				weights, net.Dim(), share)
		}
	}
}

func TestLayersNameWhatTheyCompute(t *testing.T) {
	net := mustNew(t, nets.Config{Net: "embed", Channels: []int{6}, Embed: []int{4, 3}, Window: 3, Dropout: 0.2},
		graph.Input{Vocab: []int{11, 5}}, testLabels)
	var got []string
	for _, l := range layersOf(t, net) {
		got = append(got, strings.Join([]string{l.Name, strings.Join(l.With, ","), strings.Join(l.Params, ","), l.Output},
			"|"))
	}
	want := []string{
		"embed embed2||embed2|n×3",
		"embed embed1||embed1|n×4",
		"join|dropout||n×7",
		"window 3|||n×21",
		"product conv1.weight|+ conv1.bias,elu,dropout|conv1.weight,conv1.bias|n×6",
		"product node.weight|+ node.bias|node.weight,node.bias|n×4",
		"product ends||ends|n×4",
		"edge potentials transition||transition|4×4",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
