package nets

import (
	"cmp"
	"slices"
)

// alignment of buffers in the arena, in float32: a cache line.
const alignment = 16

// allocate gives every arena buffer of the instructions an offset such that buffers that live at the same time do not
// overlap, and returns the size of the arena. Of the sections' ends, the first closes the forward pass, whose results
// stay for the other sections to read as often as they are run: buffers that cross it live to the end.
func allocate(list []Instruction, forward int) int {
	for _, in := range list {
		if in.Out.first < forward && in.Out.last >= forward {
			in.Out.last = len(list)
		}
	}
	var live []*Buffer // by offset
	size := 0
	for i, in := range list {
		live = slices.DeleteFunc(live, func(b *Buffer) bool { return b.last < i })
		b := in.Out
		if b.Space != SpaceArena || b.first != i {
			continue
		}
		if at := inPlace(in, i); at != nil {
			b.Offset = at.Offset
			live[slices.Index(live, at)] = b
			continue
		}
		b.Offset = 0
		for _, l := range live {
			if b.Offset+b.N <= l.Offset {
				break
			}
			b.Offset = max(b.Offset, roundUp(l.Offset+l.N, alignment))
		}
		live = append(live, b)
		slices.SortFunc(live, func(x, y *Buffer) int { return cmp.Compare(x.Offset, y.Offset) })
		size = max(size, b.Offset+b.N)
	}
	return roundUp(size, alignment)
}

// inPlace returns an argument whose memory the elementwise instruction i can write its result to.
func inPlace(in Instruction, i int) *Buffer {
	switch in.Op.(type) {
	case Binary, Unary, Slope:
	default:
		return nil
	}
	for _, a := range in.Args {
		if b := a.Buffer; b.Space == SpaceArena && b.last == i && b.N == in.Out.N && a.Expand.Repeat == 0 {
			return b
		}
	}
	return nil
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
