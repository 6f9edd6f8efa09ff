package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets/graph"
)

// pattern is a fixed index on the device with its inverse: entries from[row] to from[row+1]-1 of list are the entries
// that read source row `row`.
type pattern struct{ fixed, from, list device.Array[int32] }

func (c *compiler) pattern(x graph.Index) pattern {
	if p, ok := c.program.patterns[&x.Fixed[0]]; ok {
		return p
	}
	from, list := make([]int32, x.Rows+1), []int32{}
	for row := range x.Rows {
		for j, r := range x.Fixed {
			if int(r) == row {
				list = append(list, int32(j))
			}
		}
		from[row+1] = int32(len(list))
	}
	const what = "a network's index"
	o := &c.executor.owned
	p := pattern{ownCopy(o, x.Fixed, what), ownCopy(o, from, what), ownCopy(o, list, what)}
	c.program.patterns[&x.Fixed[0]] = p
	return p
}

func (c *compiler) gather(o graph.Gather, in graph.Instruction) command {
	x, at, cols, n := in.Args[0].Buffer, o.Index, int32(o.Cols), in.Out.N
	switch at.Kind {
	case graph.IndexIds:
		return func(e *Executor) {
			e.entries("gather_ids", n, e.at(in.Out), e.at(x), e.now.ids[at.Field], cols)
		}
	case graph.IndexWindow:
		return func(e *Executor) {
			e.entries("gather_window", n, e.at(in.Out), e.at(x), e.sequences(), int32(e.now.Rows), int32(at.Width), cols)
		}
	case graph.IndexGrid:
		s := c.executor.net.Input().Grid
		return func(e *Executor) {
			e.entries("gather_grid", n, e.at(in.Out), e.at(x), e.batch.Chain, e.batch.Offsets, int32(s.Height),
				int32(s.Width), int32(at.Width), cols)
		}
	case graph.IndexSources:
		return func(e *Executor) {
			e.entries("gather_ids", n, e.at(in.Out), e.at(x), e.now.splits.rows, cols)
		}
	case graph.IndexDependents, graph.IndexHeads, graph.IndexDistances, graph.IndexFirstEnds, graph.IndexSecondEnds:
		return func(e *Executor) {
			e.entries("gather_ids", n, e.at(in.Out), e.at(x), e.now.pairs.of(at.Kind), cols)
		}
	case graph.IndexCharacters, graph.IndexCharacterWindow, graph.IndexCharacterParts:
		return func(e *Executor) {
			e.entries("gather_ids", n, e.at(in.Out), e.at(x), e.indexOf(at), cols)
		}
	}
	p := c.pattern(at)
	return func(e *Executor) {
		e.entries("gather_pattern", n, e.at(in.Out), e.at(x), p.fixed, int32(len(at.Fixed)), int32(at.Rows), cols)
	}
}

func (c *compiler) scatter(o graph.Scatter, in graph.Instruction) command {
	g, at, cols, n := in.Args[0].Buffer, o.Index, int32(o.Cols), in.Out.N
	switch at.Kind {
	case graph.IndexIds:
		return c.scatterIds(o, in, c.program.Rows, func(e *Executor) device.Array[int32] { return e.now.ids[at.Field] })
	case graph.IndexCharacters, graph.IndexCharacterParts:
		return c.scatterIds(o, in, c.program.Chars*at.Width, func(e *Executor) device.Array[int32] { return e.indexOf(at) })
	case graph.IndexCharacterWindow:
		return scatterCharacterWindow(o, in)
	case graph.IndexWindow:
		return func(e *Executor) {
			e.entries("scatter_window", n, e.at(in.Out), e.at(g), e.sequences(), int32(e.now.Rows), int32(at.Width), cols,
				device.Flag(in.Accumulate))
		}
	case graph.IndexDependents, graph.IndexHeads:
		return scatterPairs(o, in)
	case graph.IndexDistances:
		return scatterDistances(o, in)
	case graph.IndexGrid:
		s := c.executor.net.Input().Grid
		return func(e *Executor) {
			e.entries("scatter_grid", n, e.at(in.Out), e.at(g), e.batch.Chain, e.batch.Offsets, int32(s.Height),
				int32(s.Width), int32(at.Width), cols,
				device.Flag(in.Accumulate))
		}
	case graph.IndexSources:
		return scatterSources(o, in)
	case graph.IndexFirstEnds, graph.IndexSecondEnds:
		return scatterEnds(o, in)
	}
	p := c.pattern(at)
	return func(e *Executor) {
		e.entries("scatter_pattern", n, e.at(in.Out), e.at(g), p.from, p.list, int32(len(at.Fixed)), int32(at.Rows), cols,
			device.Flag(in.Accumulate))
	}
}
