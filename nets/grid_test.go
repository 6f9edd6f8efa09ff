package nets_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Windows over the cells of a grid equal Gorgonia's TapeMachine in float64, in presets and stacks.
func TestGridsEqualGorgonia(t *testing.T) {
	shape := graph.Grid{Height: 3, Width: 4}
	crops := graph.Map{Height: 5, Width: 4, Channels: 1}
	for _, c := range []struct {
		config nets.Config
		input  graph.Input
	}{
		{nets.Config{Net: "linear", Window: 3}, graph.Input{Dim: 2, Grid: shape}},
		{nets.Config{Net: "cnn", Channels: []int{4, 3}, Window: 5}, graph.Input{Dim: 2, Grid: shape}},
		{nets.Config{Net: "conv-crop", Channels: []int{3}, Hidden: []int{4}, Window: 3},
			graph.Input{Dim: 20, Map: crops, Grid: shape}},
		{nets.Config{Net: nets.StackNet, Stack: "- features\n- window: 3\n- convolution: 4\n- activation\n"},
			graph.Input{Dim: 2, Grid: shape}},
	} {
		t.Run(c.config.Net, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(71, 72))
			net, err := nets.Make(c.config, c.input, nets.Output{Form: grid})
			must(t, err)
			var batch structured.Batch
			batch.Reset(randomData(rng, c.input, 3, 12, 0, 12), seq(3))
			checkAgainst(t, newReference(t, net, &batch, 0), net, &batch, randomVector(rng, net.Dim(), 0.5), 0, rng)
			everyParameterCounts(t, net, &batch, rng)
		})
	}
}

// Each row of a window has the cells around it.
func TestGridWindow(t *testing.T) {
	spec := graph.Spec{Name: "window", Form: perCell(9), Params: []graph.Param{{Name: "one", Shape: []int{1, 1}}},
		Parts: func(g *graph.Graph) ([]*gorgonia.Node, error) {
			w, err := g.GridWindow(node(gorgonia.Mul(g.Features(), g.Param("one"))), 3)
			return []*gorgonia.Node{w}, err
		}}
	net, err := nets.Build(spec, graph.Input{Dim: 1, Grid: graph.Grid{Height: 2, Width: 3}})
	must(t, err)
	d := &structured.Dataset{Name: "cells", Offsets: []int{0, 6, 12}, Dim: 1,
		Features: []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}
	var batch structured.Batch
	batch.Reset(d, []int{1})
	var θ structured.Potentials
	must(t, net.NewNetWorker().Score([]float32{1}, &batch, &θ))
	want := []float32{
		0, 0, 0, 0, 7, 8, 0, 10, 11,
		0, 0, 0, 7, 8, 9, 10, 11, 12,
		0, 0, 0, 8, 9, 0, 11, 12, 0,
		0, 7, 8, 0, 10, 11, 0, 0, 0,
		7, 8, 9, 10, 11, 12, 0, 0, 0,
		8, 9, 0, 11, 12, 0, 0, 0, 0,
	}
	if !slices.Equal(θ.Parts[0].Values, want) {
		t.Errorf("got %v", fmt.Sprint(θ.Parts[0].Values))
	}

	d.Offsets = []int{0, 5, 12}
	batch.Reset(d, []int{0})
	if err := net.NewNetWorker().Score([]float32{1}, &batch, &θ); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "5 positions; the network reads grids of 2×3 cells") {
		t.Errorf("5 positions: %v", err)
	}
	if _, err := nets.Build(spec, graph.Input{Dim: 1}); err == nil ||
		!strings.Contains(err.Error(), "not cells of a grid") {
		t.Errorf("no grid: %v", err)
	}
}
