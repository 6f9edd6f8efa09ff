package cudanets

import (
	"math/bits"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets/graph"
)

// reduction says how blocks share a sum along a middle axis; see reduce.cu. It depends on the sizes only, and so does
// the order of the sums.
type reduction struct{ outer, repeat, inner, chunk, width, height, rest int }

// reductionOf splits a long middle axis into chunks if there are few sums.
func reductionOf(outer, repeat, inner int, whole bool) reduction {
	const threads, enough = 256, 512 // threads per block; blocks that fill a device
	power := func(n int) int { return 1 << bits.Len(uint(n-1)) }
	r := reduction{outer: outer, repeat: repeat, inner: inner, chunk: repeat, width: min(32, power(inner))}
	r.height = min(threads/r.width, power(repeat))
	if blocks := device.CeilDiv(inner, r.width) * device.CeilDiv(outer, max(1, threads/(r.width*r.height))); !whole &&
		blocks < enough {
		r.chunk = device.CeilDiv(repeat, max(1, min(enough/blocks, repeat/(4*r.height))))
	}
	r.rest = min(threads/(r.width*r.height), power(outer*r.chunks()))
	return r
}

func (r reduction) chunks() int { return device.CeilDiv(r.repeat, r.chunk) }

func (r reduction) launch(e *Executor, kernel string, x device.Array[float32], accumulate bool,
	out device.Array[float32]) {
	blocks, threads := device.CeilDiv(r.inner, r.width)*device.CeilDiv(r.outer*r.chunks(), r.rest), r.width*r.height*r.rest
	e.device.Launch(kernel, device.Dim{X: blocks}, device.Dim{X: threads}, 4*threads, x, int32(r.outer), int32(r.repeat),
		int32(r.inner), int32(r.chunk),
		int32(r.width), int32(r.height), device.Flag(accumulate), out)
}

func (c *compiler) reduce(kernel string, outer, repeat, inner int, in graph.Instruction) command {
	first := reductionOf(outer, repeat, inner, false)
	if first.chunks() == 1 {
		return func(e *Executor) { first.launch(e, kernel, e.at(in.Args[0].Buffer), in.Accumulate, e.at(in.Out)) }
	}
	n := outer * first.chunks() * inner
	c.partial = max(c.partial, n)
	second := reductionOf(outer, first.chunks(), inner, true)
	return func(e *Executor) {
		part := e.now.partial.Slice(0, n)
		first.launch(e, kernel, e.at(in.Args[0].Buffer), false, part)
		second.launch(e, kernel, part, in.Accumulate, e.at(in.Out))
	}
}

// softmax normalises, or pulls back: the arguments are x, or y and g.
func softmax(kernel string, o graph.Softmax, in graph.Instruction) command {
	const warps = 4 // per block
	rows := o.Outer * o.Inner
	return func(e *Executor) {
		var args []any
		for _, a := range in.Args {
			args = append(args, e.at(a.Buffer))
		}
		args = append(args, int32(rows), int32(o.Size), int32(o.Inner), device.Flag(o.Log), e.at(in.Out))
		e.device.Launch(kernel, device.Dim{X: device.CeilDiv(rows, warps)}, device.Dim{X: 32 * warps}, 0, args...)
	}
}

func pool(kernel string, o graph.Pooling, in graph.Instruction) command {
	return func(e *Executor) {
		var args []any
		for _, a := range in.Args {
			args = append(args, e.at(a.Buffer))
		}
		e.entries(kernel, in.Out.N, e.at(in.Out), append(args, int32(o.Height), int32(o.Width), int32(o.Channels))...)
	}
}

func (c *compiler) permute(o graph.Permute, in graph.Instruction) command {
	var axes []int32
	for _, axis := range o.Order {
		stride := 1
		for _, size := range o.From[axis+1:] {
			stride *= size
		}
		axes = append(axes, int32(o.From[axis]), int32(stride))
	}
	at := ownCopy(&c.executor.owned, axes, "a network's axes")
	return func(e *Executor) {
		e.entries("permute", in.Out.N, e.at(in.Out), e.at(in.Args[0].Buffer), at, int32(len(o.Order)))
	}
}

// concat launches one kernel per part.
func concat(o graph.Concat, in graph.Instruction) command {
	row := in.Out.N / o.Outer
	return func(e *Executor) {
		at := 0
		for i, w := range o.Widths {
			e.entries("concat", o.Outer*w, e.at(in.Out), e.at(in.Args[i].Buffer), int32(w), int32(row), int32(at))
			at += w
		}
	}
}

// slice copies entries out; with unslice and its flag, it copies them back.
func slice(kernel string, o graph.Slice, in graph.Instruction, more ...any) command {
	return func(e *Executor) {
		args := append([]any{e.at(in.Args[0].Buffer), int32(o.Size), int32(o.Inner), int32(o.Lo),
			int32(o.Step), int32(o.Count)}, more...)
		e.entries(kernel, in.Out.N, e.at(in.Out), args...)
	}
}
