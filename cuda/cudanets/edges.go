package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets/graph"
)

// loadEdges gathers what a program reads of the edges of the batch.
func (e *Executor) loadEdges(p *program, b *resident.Batch) {
	of := b.Data.Edges
	if p.Needs.Ends {
		e.entries("end_rows", p.Pairs, p.pairs.dependents, p.pairs.heads, b.Offsets, b.Examples, b.Pairs,
			b.Data.Pairs, of.Ends, int32(b.Chains))
	}
	if p.Needs.EdgeFeatures {
		e.entries("load_features", p.edges.Len(), p.edges, of.Features, b.PairSource, int32(e.net.Input().EdgeDim))
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
		lists := b.Data.Edges.Incident[side]
		e.entries("scatter_ends", in.Out.N, e.at(in.Out), e.at(g), b.Chain, b.Source, b.Examples, b.Pairs,
			b.Data.Pairs, lists.From, lists.List, int32(o.Cols), device.Flag(in.Accumulate))
	}
}
