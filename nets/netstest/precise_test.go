package netstest

import (
	"fmt"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Net linear sums in float64 for every kind of output and edges; other networks, and windows of positions, do not.
// CheckNet compares the sums.
func TestLinearNetsSumInFloat64(t *testing.T) {
	pairwise := func(labels, types int, edges string) nets.Output {
		out, err := nets.GraphOutput(labels, types, edges)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	links := nets.Output{Form: structured.Form{Structure: named{},
		Parts: []structured.Shape{{Name: "pair", Rows: structured.Pairs, Width: 2},
			{Name: "unmatched", Rows: structured.Sources, Width: 1}}}}
	for i, c := range []struct {
		config  nets.Config
		input   graph.Input
		out     nets.Output
		precise bool
	}{
		{nets.Config{Edges: nets.EdgesTransition}, graph.Input{Dim: 5}, nets.ChainOutput(4, nets.EdgesTransition), true},
		{nets.Config{Edges: nets.EdgesPosition}, graph.Input{Dim: 5}, nets.ChainOutput(3, nets.EdgesPosition), true},
		{nets.Config{Edges: nets.EdgesNone}, graph.Input{Dim: 5}, nets.ChainOutput(3, nets.EdgesNone), true},
		{nets.Config{Edges: nets.EdgesTransition}, graph.Input{Dim: 1}, nets.ChainOutput(3, nets.EdgesTransition), true},
		{nets.Config{}, graph.Input{Dim: 1, EdgeDim: 1}, pairwise(3, 0, nets.EdgesOwn), true},
		{nets.Config{}, graph.Input{Dim: 4, EdgeDim: 3}, pairwise(3, 0, nets.EdgesOwn), true},
		{nets.Config{}, graph.Input{Dim: 4}, pairwise(2, 0, nets.EdgesPotts), true},
		{nets.Config{}, graph.Input{Dim: 4}, pairwise(3, 2, nets.EdgesTyped), true},
		{nets.Config{}, graph.Input{PairAttributes: 7}, links, true},
		{nets.Config{Window: 3}, graph.Input{Dim: 5}, nets.ChainOutput(4, nets.EdgesTransition), false},
		{nets.Config{Net: "mlp", Hidden: []int{3}}, graph.Input{Dim: 5}, nets.ChainOutput(4, nets.EdgesTransition), false},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			net, err := nets.Make(c.config, c.input, c.out)
			if err != nil {
				t.Fatal(err)
			}
			if precise := net.NewPreciseWorker() != nil; precise != c.precise {
				t.Errorf("%v: sums in float64: %v", c, precise)
			}
			CheckNet(t, net)
		})
	}
}
