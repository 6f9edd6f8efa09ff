// Command ownnetwork is dsp with one more network, "mine": every verb of dsp knows --net mine.
package main

import (
	"os"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/cmd/dsp/cli"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
)

// mine scores each label with a hidden layer over the position and its neighbours, and each pair of neighbouring labels
// with one learned matrix.
func mine(c nets.Config, in graph.Input, out nets.Output) (graph.Spec, error) {
	wide, hidden := c.Window*in.Dim, c.Hidden[0]
	return graph.Spec{
		Params: []graph.Param{
			{Name: "hidden", Shape: []int{wide, hidden}, Init: graph.Glorot},
			{Name: "bias", Shape: []int{hidden}},
			{Name: "node", Shape: []int{hidden, out.Labels}, Init: graph.Glorot},
			{Name: "transition", Shape: []int{out.Labels, out.Labels}},
		},
		Build: func(g *graph.Graph) (node, edge *gorgonia.Node, err error) {
			x, err := g.Window(g.Features(), c.Window) // [positions × wide]
			if err != nil {
				return nil, nil, err
			}
			h, err := g.Dense(x, g.Param("hidden"), g.Param("bias"))
			if err != nil {
				return nil, nil, err
			}
			if h, err = gorgonia.Tanh(h); err != nil {
				return nil, nil, err
			}
			node, err = gorgonia.Mul(h, g.Param("node")) // [positions × labels]
			return node, g.Param("transition"), err
		},
	}, nil
}

func main() {
	nets.Register("mine", nets.Config{Hidden: []int{64}, Window: 3}, mine) // its settings, with their defaults
	os.Exit(cli.Main())
}
