package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets/graph"
)

// pairs holds the indices that a gather reads for each pair of positions of a batch, −1 in padding. The head of a root
// pair is −1, too. The ends of edges of a graph take the place of dependents and heads.
type pairs struct{ dependents, heads, distances device.Array[int32] }

func (p pairs) of(kind graph.IndexKind) device.Array[int32] {
	switch kind {
	case graph.IndexHeads, graph.IndexSecondEnds:
		return p.heads
	case graph.IndexDistances:
		return p.distances
	}
	return p.dependents
}

func bilinear(o graph.Bilinear, in graph.Instruction) command {
	x, z, root := in.Args[0].Buffer, in.Args[1].Buffer, in.Args[2].Buffer
	return func(e *Executor) {
		e.entries("bilinear", in.Out.N, e.at(in.Out), e.at(x), e.at(z), e.at(root), e.now.pairs.dependents, e.now.pairs.heads,
			int32(o.K), int32(o.E), device.Flag(in.Accumulate))
	}
}

func bilinearDependents(o graph.BilinearDependents, in graph.Instruction) command {
	g, z, root := in.Args[0].Buffer, in.Args[1].Buffer, in.Args[2].Buffer
	return func(e *Executor) {
		e.entries("bilinear_dependents", in.Out.N, e.at(in.Out), e.at(g), e.at(z), e.at(root), e.batch.Chain,
			e.batch.Offsets, e.batch.Pairs, int32(o.K), int32(o.E), device.Flag(in.Accumulate))
	}
}

func bilinearHeads(o graph.BilinearHeads, in graph.Instruction) command {
	g, x := in.Args[0].Buffer, in.Args[1].Buffer
	return func(e *Executor) {
		e.entries("bilinear_heads", in.Out.N, e.at(in.Out), e.at(g), e.at(x), e.batch.Chain, e.batch.Offsets, e.batch.Pairs,
			int32(o.K), int32(o.E), device.Flag(in.Accumulate))
	}
}

func bilinearRoot(o graph.BilinearRoot, in graph.Instruction) command {
	g, x := in.Args[0].Buffer, in.Args[1].Buffer
	return func(e *Executor) {
		e.device.Launch("bilinear_root", device.Dim{X: o.E}, device.Dim{X: device.BlockThreads}, device.BlockThreads/32*8,
			e.at(g), e.at(x), e.batch.Chain, e.batch.Offsets, e.batch.Pairs,
			int32(e.now.Rows), int32(o.K), int32(o.E), device.Flag(in.Accumulate), e.at(in.Out))
	}
}

func scatterDistances(o graph.Scatter, in graph.Instruction) command {
	g := in.Args[0].Buffer
	return func(e *Executor) {
		e.entries("scatter_distances", in.Out.N, e.at(in.Out), e.at(g), e.batch.Chain, e.batch.Offsets, e.batch.Pairs,
			int32(o.Cols), device.Flag(in.Accumulate))
	}
}

func scatterPairs(o graph.Scatter, in graph.Instruction) command {
	g, heads := in.Args[0].Buffer, device.Flag(o.Index.Kind == graph.IndexHeads)
	return func(e *Executor) {
		e.entries("scatter_pairs", in.Out.N, e.at(in.Out), e.at(g), e.batch.Chain, e.batch.Offsets, e.batch.Pairs, heads,
			int32(o.Cols), device.Flag(in.Accumulate))
	}
}
