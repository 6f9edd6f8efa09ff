package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets/graph"
)

// recurrenceStep is how many rows one thread runs of a batch whose chains may be longer than longestRecurrence.
const (
	recurrenceStep    = 64
	longestRecurrence = 128
)

// recurrence runs short chains with one thread per chain and column, and batches with long ones in parallel over time.
func (c *compiler) recurrence(o graph.Recurrence, in graph.Instruction) command {
	a, b := in.Args[0].Buffer, in.Args[1].Buffer
	rows := in.Out.N / o.Cols
	blocks := device.CeilDiv(rows, recurrenceStep) * o.Cols
	c.partial = max(c.partial, 2*blocks)
	cols, forward, adjoint := int32(o.Cols), int32(o.Forward), device.Flag(o.Adjoint)
	return func(e *Executor) {
		x, chains := e.batch, e.batch.Chains
		if x.Longest <= longestRecurrence {
			e.entries("recurrence", (chains+1)*o.Cols, e.at(in.Out), e.at(a), e.at(b), x.Offsets, int32(chains), int32(rows),
				cols, forward, adjoint)
			return
		}
		factors, values := e.now.partial.Slice(0, blocks), e.now.partial.Slice(blocks, 2*blocks)
		e.entries("recurrence_blocks", blocks, values, e.at(a), e.at(b), x.Chain, int32(rows), cols, int32(recurrenceStep),
			forward, adjoint, factors)
		e.entries("recurrence_rest", blocks, e.at(in.Out), e.at(a), e.at(b), x.Chain, x.Offsets, int32(rows), cols,
			int32(recurrenceStep), forward, adjoint, factors, values)
	}
}

func timesPrevious(o graph.TimesPrevious, in graph.Instruction) command {
	x, h := in.Args[0].Buffer, in.Args[1].Buffer
	rows := in.Out.N / o.Cols
	return func(e *Executor) {
		e.entries("times_previous", in.Out.N, e.at(in.Out), e.at(x), e.at(h), e.batch.Chain, int32(rows),
			int32(o.Cols), int32(o.Forward),
			device.Flag(in.Accumulate))
	}
}

// normalise normalises rows, or pulls back: the arguments are x, or x and g.
func normalise(kernel string, o graph.Normalise, in graph.Instruction) command {
	const warps = 4 // per block
	return func(e *Executor) {
		var args []any
		for _, a := range in.Args {
			args = append(args, e.at(a.Buffer))
		}
		args = append(args, int32(o.Rows), int32(o.Cols), e.at(in.Out))
		e.device.Launch(kernel, device.Dim{X: device.CeilDiv(o.Rows, warps)}, device.Dim{X: 32 * warps}, 0, args...)
	}
}
