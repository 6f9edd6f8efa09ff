package cudanets

import (
	"math/bits"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets/graph"
)

// sorting is the memory for sorting a batch's ids.
type sorting struct {
	keys, order [2]device.Array[int32]
	counts      device.Array[int32]
	parts       device.Array[float32] // partial sums of scatter_runs
}

// scatterStretch is how many sorted ids one block of scatter_runs sums.
const scatterStretch = 64

// sortStretch returns how many of n numbers each warp sorts; there are at most 256 such stretches.
func sortStretch(n int) int { return max(256, 32*device.CeilDiv(n, 256*32)) }

// sortingNeeds is how large the arrays of a sorting must be for all scatters of a program.
type sortingNeeds struct{ rows, counts, parts int }

func (s *sorting) allocate(o *owned, n sortingNeeds, what string) {
	if n.parts == 0 {
		return
	}
	for i := range 2 {
		s.keys[i] = own[int32](o, n.rows, what)
		s.order[i] = own[int32](o, n.rows, what)
	}
	s.counts = own[int32](o, n.counts, what)
	s.parts = own[float32](o, n.parts, what)
}

// scatterIds sorts the batch's ids, one for each of the argument's rows, which makes the terms of each row of the table
// adjacent.
func (c *compiler) scatterIds(o graph.Scatter, in graph.Instruction, rows int,
	idsOf func(e *Executor) device.Array[int32]) command {
	g, cols, vocab := in.Args[0].Buffer, o.Cols, in.Out.N/o.Cols
	stretches := device.CeilDiv(rows, scatterStretch)
	n := &c.sort
	n.rows, n.counts, n.parts = max(n.rows, rows), max(n.counts, 256*device.CeilDiv(rows, sortStretch(rows))),
		max(n.parts, 2*stretches*cols)
	passes := (bits.Len(uint(vocab)) + 7) / 8 // padding is sorted as the number vocab
	return func(e *Executor) {
		ids, order := e.sorted(idsOf(e), vocab, passes)
		out, parts := e.at(in.Out), e.now.sort.parts
		if !in.Accumulate {
			device.Zero(e.device, out)
		}
		threads := min(128, 32*device.CeilDiv(cols, 32))
		grid := device.Dim{X: stretches, Y: device.CeilDiv(cols, threads)}
		e.device.Launch("scatter_runs", grid, device.Dim{X: threads}, 0, ids, order, e.at(g), int32(rows), int32(vocab),
			int32(cols), int32(scatterStretch), parts, out)
		e.device.Launch("scatter_spans", grid, device.Dim{X: threads}, 0, ids, int32(rows), int32(vocab), int32(cols),
			int32(scatterStretch), parts, out)
	}
}

// sorted returns the sorted ids, and the row of the batch of each.
func (e *Executor) sorted(ids device.Array[int32], padding, passes int) (keys, order device.Array[int32]) {
	s, n := &e.now.sort, ids.Len()
	stretch := sortStretch(n)
	warps, block := device.Dim{X: device.CeilDiv(n, stretch)}, device.Dim{X: 32}
	e.entries("load_keys", n, s.keys[0], ids, int32(padding))
	for k := range passes {
		from, to, before := k%2, (k+1)%2, s.order[k%2]
		if k == 0 {
			before = device.Array[int32]{}
		}
		e.device.Launch("sort_count", warps, block, 256*4, s.keys[from], int32(n), int32(8*k), int32(stretch), s.counts)
		e.device.Launch("sort_scan", device.Dim{X: 1}, device.Dim{X: 256}, 256*4, s.counts, int32(warps.X))
		e.device.Launch("sort_move", warps, block, 256*4, s.keys[from], before, int32(n), int32(8*k), int32(stretch),
			s.counts, s.keys[to], s.order[to])
	}
	return s.keys[passes%2], s.order[passes%2]
}
