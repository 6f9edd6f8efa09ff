package cudanets

import (
	"math"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets/graph"
)

// attention makes the command of attention (arguments x) or its push-forward (x and ẋ).
func attention(kernel string, o graph.Attention, in graph.Instruction) command {
	return func(e *Executor) {
		var args []any
		for _, a := range in.Args {
			args = append(args, e.at(a.Buffer))
		}
		rows := in.Out.N / (o.Heads * o.Size)
		e.perHead(kernel, o, rows, 2*len(in.Args), append(args, e.batch.Chain, e.batch.Offsets), e.at(in.Out))
	}
}

// attentionPull makes the command of the pullback (arguments x and g), which keeps three numbers per row and head in
// between.
func (c *compiler) attentionPull(o graph.Attention, in graph.Instruction) command {
	rows := in.Out.N / (3 * o.Heads * o.Size)
	n := 3 * rows * o.Heads
	c.partial = max(c.partial, n)
	return func(e *Executor) {
		x, g, out, stats := e.at(in.Args[0].Buffer), e.at(in.Args[1].Buffer), e.at(in.Out), e.now.partial.Slice(0, n)
		e.perHead("attention_pull_queries", o, rows, 2, []any{x, g, e.batch.Chain, e.batch.Offsets}, stats, out)
		e.perHead("attention_pull_keys", o, rows, 2, []any{x, g, stats, e.batch.Chain, e.batch.Offsets}, out)
	}
}

// perHead launches a kernel for each head and all rows, which reads the rows of the given number of matrices in tiles.
func (e *Executor) perHead(kernel string, o graph.Attention, rows, matrices int, args []any, out ...any) {
	const warps, share = 8, 2 // of a block, and rows of a warp; the kernels have the same constants
	shared, tiled := warps*2*32*4*share, int32(0)
	if tiles := 4 * 32 * matrices * pitch(o.Size); shared+tiles <= mostTiles {
		shared, tiled = shared+tiles, 1
	}
	args = append(args, int32(o.Heads), int32(o.Size), float32(1/math.Sqrt(float64(o.Size))), int32(rows), tiled)
	e.device.Launch(kernel, device.Dim{X: device.CeilDiv(rows, warps*share), Y: o.Heads}, device.Dim{X: 32 * warps},
		shared, append(args, out...)...)
}

// mostTiles is the most shared memory that a block of attention takes: a little less than the smallest that devices
// have. Tests change it.
var mostTiles = 96 << 10

// pitch is the distance of rows of E numbers in shared memory, as in cuda/devicecode/cudanets/attention.cu.
func pitch(E int) int {
	switch {
	case E%4 != 0:
		return E | 1
	case E%8 == 4:
		return E
	}
	return E + 4
}

func (c *compiler) rotate(o graph.Rotation, in graph.Instruction) command {
	waves := c.executor.wavesOf(o.Size/2, in.Out.N/o.Cols)
	return func(e *Executor) {
		e.entries("rotate", in.Out.N, e.at(in.Out), e.at(in.Args[0].Buffer), waves, e.batch.Chain, e.batch.Offsets,
			int32(o.Cols), int32(o.Turned), int32(o.Size), device.Flag(o.Back))
	}
}

func (c *compiler) sinusoids(o graph.Sinusoids, in graph.Instruction) command {
	waves := c.executor.wavesOf(o.Cols/2, in.Out.N/o.Cols)
	return func(e *Executor) {
		e.entries("add_sinusoids", in.Out.N, e.at(in.Out), e.at(in.Args[0].Buffer), waves, e.batch.Chain,
			e.batch.Offsets, int32(o.Cols))
	}
}

// wavesOf returns graph.Waves for as many positions as a batch has rows; programs share them.
func (e *Executor) wavesOf(half, rows int) device.Array[float32] {
	w, ok := e.waves[half]
	if !ok || w.Len() < 2*half*rows {
		w = ownCopy(&e.owned, graph.Waves(nil, rows, half, graph.WaveBase), "the network's positions")
		e.waves[half] = w
	}
	return w
}
