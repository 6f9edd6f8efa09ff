package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets/graph"
)

// splits holds what a program reads of the source and target items of a batch; empty if examples have none. The
// positions of the items of a pair are those of pairs: source items in place of dependents, target items in place of
// heads.
type splits struct {
	sides device.Array[int32] // [Rows] 2·chain for source items, 2·chain + 1 for target items, −1 in padding
	rows  device.Array[int32] // [Rows] position of each source item, −1 in padding
}

// loadSplits computes the indices of the batch's source and target items.
func (e *Executor) loadSplits(p *program, b *resident.Batch) {
	e.entries("split_rows", p.Rows, p.splits.rows, p.splits.sides, b.Chain, b.Offsets, b.Sources, int32(b.Chains))
	if p.Needs.Pairs {
		e.entries("align_rows", p.Pairs, p.pairs.dependents, p.pairs.heads, b.Offsets, b.Sources, b.Pairs, int32(b.Chains))
	}
}

// sequences returns a number for each row, the same for rows whose neighbours are related: its chain, or its side of a
// chain.
func (e *Executor) sequences() device.Array[int32] {
	if e.now.Needs.Split {
		return e.now.splits.sides
	}
	return e.batch.Chain
}

func scatterSources(o graph.Scatter, in graph.Instruction) command {
	g := in.Args[0].Buffer
	return func(e *Executor) {
		e.entries("scatter_sources", in.Out.N, e.at(in.Out), e.at(g), e.batch.Chain, e.batch.Offsets, e.batch.Sources,
			int32(o.Cols), device.Flag(in.Accumulate))
	}
}

func align(o graph.Align, in graph.Instruction) command {
	x, z := in.Args[0].Buffer, in.Args[1].Buffer
	return func(e *Executor) { // the root is not read: every pair has a target
		e.entries("bilinear", in.Out.N, e.at(in.Out), e.at(x), e.at(z), e.at(z), e.now.pairs.dependents, e.now.pairs.heads,
			int32(o.K), int32(o.E), device.Flag(in.Accumulate))
	}
}

// alignPull makes the command of a pullback of Align: the arguments are g, and z or x.
func alignPull(kernel string, o graph.Align, in graph.Instruction) command {
	g, with := in.Args[0].Buffer, in.Args[1].Buffer
	return func(e *Executor) {
		b := e.batch
		e.entries(kernel, in.Out.N, e.at(in.Out), e.at(g), e.at(with), b.Chain, b.Offsets, b.Sources, b.Pairs, int32(o.K),
			int32(o.E), device.Flag(in.Accumulate))
	}
}
