package netstest

import (
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// named is a structure of which only the name matters.
type named struct{ structured.Structure }

func (named) Name() string { return "structure" }

// Convolutions and networks of matchings and of graphs pass the checks: their derivatives are right, and examples do
// not mix.
func TestOtherStructuresPass(t *testing.T) {
	cells := structured.Form{Structure: named{},
		Parts: []structured.Shape{{Name: "cell", Rows: structured.Positions, Width: 2},
			{Name: "size", Rows: structured.Tied, Width: 5}, {Name: "loss", Rows: structured.Examples, Width: 1}}}
	links := structured.Form{Structure: named{},
		Parts: []structured.Shape{{Name: "pair", Rows: structured.Pairs, Width: 2},
			{Name: "unmatched", Rows: structured.Sources, Width: 1}}}
	tables, _ := nets.GraphOutput(2, 0, nets.EdgesOwn)
	potts, _ := nets.GraphOutput(3, 0, nets.EdgesPotts)
	crops := graph.Map{Height: 5, Width: 6, Channels: 3}
	for name, c := range map[string]struct {
		config nets.Config
		input  graph.Input
		form   structured.Form
	}{
		"linear": {nets.Config{Net: "linear"}, graph.Input{Dim: 4}, cells},
		"conv-map": {nets.Config{Net: "conv-map", Channels: []int{3}, Activation: graph.Tanh},
			graph.Input{Dim: 12, Map: graph.Map{Height: 2, Width: 3, Channels: 2}}, cells},
		"conv-crop": {nets.Config{Net: "conv-crop", Channels: []int{4, 3}, Hidden: []int{5}, Activation: graph.Tanh},
			graph.Input{Dim: crops.Len(), Map: crops}, cells},
		"grid": {nets.Config{Net: "cnn", Channels: []int{3}, Window: 3, Activation: graph.Tanh},
			graph.Input{Dim: 2, Grid: graph.Grid{Height: 3, Width: 4}}, cells},
		"pairs": {nets.Config{Net: "mlp", Hidden: []int{4}, Activation: graph.Tanh}, graph.Input{PairAttributes: 7},
			links},
		"edges": {nets.Config{Net: "linear"}, graph.Input{Dim: 4, EdgeDim: 3}, tables.Form},
		"ends": {nets.Config{Net: "mlp", Hidden: []int{4}, EdgeUnits: 3, Activation: graph.Tanh},
			graph.Input{Dim: 4, EdgeDim: 3}, potts.Form},
		"submodular": {nets.Config{Net: "mlp", Hidden: []int{4}, EdgeUnits: 3, Submodular: nets.SubmodularSoftplus,
			Activation: graph.Tanh},
			graph.Input{Dim: 4}, tables.Form},
		"bilinear": {nets.Config{Net: "bilinear", Channels: []int{4}, PairUnits: 3, Activation: graph.Tanh},
			graph.Input{Vocab: []int{9}, PairAttributes: 7}, links},
	} {
		t.Run(name, func(t *testing.T) {
			net, err := nets.Make(c.config, c.input, nets.Output{Form: c.form})
			if err != nil {
				t.Fatal(err)
			}
			CheckNet(t, net)
		})
	}
}
