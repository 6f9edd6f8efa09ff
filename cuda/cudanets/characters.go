package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets/graph"
)

// characters holds where the characters of a batch are, and the indices that gathers read for each of them.
type characters struct {
	starts, owner device.Array[int32] // [Rows+1], [Chars]
	indices       map[graph.CharacterIndex]device.Array[int32]
}

func (c *characters) allocate(o *owned, of *graph.Program, what string) {
	if !of.Needs.Characters {
		return
	}
	c.starts, c.owner = own[int32](o, of.Rows+1, what), own[int32](o, of.Chars, what)
	c.indices = map[graph.CharacterIndex]device.Array[int32]{}
	for _, x := range of.Needs.CharacterIndices {
		c.indices[x] = own[int32](o, of.Chars*x.Width, what)
	}
}

// loadCharacters finds the characters of the batch's words.
func (e *Executor) loadCharacters(p *program, b *resident.Batch) {
	of, c := b.Data.Characters, &p.characters
	e.entries("segment_starts", p.Rows+1, c.starts, b.Source, b.Chain, b.Offsets, b.Characters,
		int32(b.Chains), of.Offsets)
	e.entries("segment_owners", p.Chars, c.owner, c.starts, int32(p.Rows))
	for _, x := range p.Needs.CharacterIndices {
		kind := int32(2)
		switch x.Kind {
		case graph.IndexCharacters:
			kind = 0
		case graph.IndexCharacterWindow:
			kind = 1
		}
		e.entries("segment_index", p.Chars*x.Width, c.indices[x], c.owner, c.starts, b.Source, of.Offsets,
			of.Ids, int32(x.Width), kind)
	}
}

// indexOf returns the entries of an index of characters.
func (e *Executor) indexOf(x graph.Index) device.Array[int32] {
	return e.now.characters.indices[graph.CharacterIndex{Kind: x.Kind, Width: x.Width}]
}

func scatterCharacterWindow(o graph.Scatter, in graph.Instruction) command {
	g := in.Args[0].Buffer
	return func(e *Executor) {
		e.entries("scatter_segment_window", in.Out.N, e.at(in.Out), e.at(g), e.now.characters.owner, e.now.characters.starts,
			int32(o.Index.Width), int32(o.Cols), device.Flag(in.Accumulate))
	}
}

func segmentMax(o graph.SegmentMax, in graph.Instruction) command {
	x := in.Args[0].Buffer
	return func(e *Executor) {
		e.entries("segment_max", in.Out.N, e.at(in.Out), e.at(x), e.now.characters.starts, int32(o.Cols))
	}
}

func segmentMaxPush(o graph.SegmentMaxPush, in graph.Instruction) command {
	x, y, dx := in.Args[0].Buffer, in.Args[1].Buffer, in.Args[2].Buffer
	return func(e *Executor) {
		e.entries("segment_max_push", in.Out.N, e.at(in.Out), e.at(x), e.at(y), e.at(dx),
			e.now.characters.starts, int32(o.Cols))
	}
}

func segmentMaxPull(o graph.SegmentMaxPull, in graph.Instruction) command {
	x, y, g := in.Args[0].Buffer, in.Args[1].Buffer, in.Args[2].Buffer
	return func(e *Executor) {
		e.entries("segment_max_pull", in.Out.N, e.at(in.Out), e.at(x), e.at(y), e.at(g), e.now.characters.owner,
			e.now.characters.starts, int32(o.Cols))
	}
}
