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
func allocate(list []instruction, forward int) int {
	for _, in := range list {
		if in.out.first < forward && in.out.last >= forward {
			in.out.last = len(list)
		}
	}
	var live []*buffer // by offset
	size := 0
	for i, in := range list {
		live = slices.DeleteFunc(live, func(b *buffer) bool { return b.last < i })
		b := in.out
		if b.space != arena || b.first != i {
			continue
		}
		if at := inPlace(in, i); at != nil {
			b.offset = at.offset
			live[slices.Index(live, at)] = b
			continue
		}
		b.offset = 0
		for _, l := range live {
			if b.offset+b.n <= l.offset {
				break
			}
			b.offset = max(b.offset, roundUp(l.offset+l.n, alignment))
		}
		live = append(live, b)
		slices.SortFunc(live, func(x, y *buffer) int { return cmp.Compare(x.offset, y.offset) })
		size = max(size, b.offset+b.n)
	}
	return roundUp(size, alignment)
}

// inPlace returns an argument whose memory the elementwise instruction i can write its result to.
func inPlace(in instruction, i int) *buffer {
	switch in.op.(type) {
	case binary, unary, slope:
	default:
		return nil
	}
	for _, a := range in.args {
		if b := a.buffer; b.space == arena && b.last == i && b.n == in.out.n && a.expand.repeat == 0 {
			return b
		}
	}
	return nil
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
