package registry

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/oracles/exact"
	"github.com/dsp-go/dsp/oracles/reweighted"
	"github.com/dsp-go/dsp/structured/graphs"
)

// Labels of the nodes of graphs, by the oracle that finds them and the form of the potentials of edges.
func init() {
	for _, by := range []struct {
		graphs.Inference
		oracle func() oracles.Maximiser
	}{
		{graphs.Exact, func() oracles.Maximiser { return exact.New() }},
		{graphs.Relaxed, func() oracles.Maximiser { return reweighted.New() }},
		{graphs.Cut, func() oracles.Maximiser { return cut.New() }},
	} {
		for _, edges := range []graphs.Edges{graphs.Own, graphs.Typed, graphs.Potts} {
			p := graphs.Pairwise{Edges: edges, By: by.Inference}
			builtin(Kind{Structure: p, Oracle: by.oracle, Small: p.Small})
		}
	}
}
