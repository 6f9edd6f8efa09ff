package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets/graph"
)

// loadEdges gathers what a program reads of the edges of the batch.
func (e *Executor) loadEdges(p *program, b *Batch) {
	of := b.Data.edges
	if p.Needs.Ends {
		e.entries("end_rows", p.Pairs, p.pairs.dependents, p.pairs.heads, b.Offsets, b.Examples, b.Pairs, b.Data.pairs, of.ends, int32(b.Chains))
	}
	if p.Needs.EdgeFeatures {
		e.entries("load_features", p.edges.Len(), p.edges, of.features, b.PairSource, int32(e.net.Input().EdgeDim))
	}
}

// scatterEnds sums the rows of edges at their first or second ends.
func scatterEnds(o graph.Scatter, in graph.Instruction) command {
	g, side := in.Args[0].Buffer, 0
	if o.Index.Kind == graph.IndexSecondEnds {
		side = 1
	}
	return func(e *Executor) {
		b := e.batch
		lists := b.Data.edges.incident[side]
		e.entries("scatter_ends", in.Out.N, e.at(in.Out), e.at(g), b.Chain, b.Source, b.Examples, b.Pairs, b.Data.pairs, lists.from, lists.list,
			int32(o.Cols), device.Flag(in.Accumulate))
	}
}
