package cudanets

import (
	"fmt"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets/graph"
)

// columnNumbers bounds the patches that are in memory at a time, unless a single map has more. Tests change it.
var columnNumbers = 1 << 24

// chunk returns how many maps a convolution works on at a time.
func chunk(o graph.Conv) int {
	return min(o.Maps, max(1, columnNumbers/(o.To.Cells()*o.Patch())))
}

// convolution makes a command that calls step for chunks of maps, with the patches' memory.
func (c *compiler) convolution(o graph.Conv,
	step func(e *Executor, columns device.Array[float32], lo, hi int)) command {
	maps, each := chunk(o), o.To.Cells()*o.Patch()
	c.columns = max(c.columns, maps*each)
	return func(e *Executor) {
		for lo := 0; lo < o.Maps; lo += maps {
			hi := min(lo+maps, o.Maps)
			step(e, e.memory.columns.Slice(0, (hi-lo)*each), lo, hi)
		}
	}
}

// of returns the numbers of maps lo to hi-1.
func of(x device.Array[float32], m graph.Map, lo, hi int) device.Array[float32] {
	return x.Slice(lo*m.Len(), hi*m.Len())
}

// beta is the factor of a product's output.
func beta(accumulate bool) float32 {
	if accumulate {
		return 1
	}
	return 0
}

// patches copies the neighbourhoods of the cells of maps to columns.
func (e *Executor) patches(o graph.Conv, maps, columns device.Array[float32]) {
	e.entries("patches", e.divisible(columns.Len()), columns, append(append([]any{maps}, sizes(o)...),
		divisors(o.Kernel*o.From.Channels, o.Kernel, o.To.Width, o.To.Height)...)...)
}

// divisors are a kernel's arguments for each of some divisors.
func divisors(of ...int) (args []any) {
	for _, d := range of {
		by := divisor(d)
		args = append(args, by.factor, by.shift)
	}
	return args
}

// divisible returns n if divisor's numbers divide what is below it; otherwise it sets the device's error.
func (e *Executor) divisible(n int) int {
	if n >= 1<<31 {
		e.device.Fail(fmt.Errorf("cuda: a convolution of %d numbers at once, a device supports fewer than 2^31", n))
	}
	return n
}

// sizes are the arguments that say what a convolution reads.
func sizes(o graph.Conv) []any {
	return []any{int32(o.From.Height), int32(o.From.Width), int32(o.From.Channels), int32(o.Kernel),
		int32(o.Stride), int32(o.Padding), int32(o.To.Height), int32(o.To.Width)}
}

func (c *compiler) conv(o graph.Conv, in graph.Instruction) command {
	x, w := in.Args[0].Buffer, in.Args[1].Buffer
	return c.convolution(o, func(e *Executor, columns device.Array[float32], lo, hi int) {
		e.patches(o, of(e.at(x), o.From, lo, hi), columns)
		e.blas.Sgemm(false, false, (hi-lo)*o.To.Cells(), o.To.Channels, o.Patch(), columns, e.at(w), beta(in.Accumulate),
			of(e.at(in.Out), o.To, lo, hi), 1, 0, 0, 0)
	})
}

func (c *compiler) convInput(o graph.Conv, in graph.Instruction) command {
	g, w := in.Args[0].Buffer, in.Args[1].Buffer
	return c.convolution(o, func(e *Executor, columns device.Array[float32], lo, hi int) {
		e.blas.Sgemm(false, true, (hi-lo)*o.To.Cells(), o.Patch(), o.To.Channels, of(e.at(g), o.To, lo, hi),
			e.at(w), 0, columns, 1, 0, 0, 0)
		out := of(e.at(in.Out), o.From, lo, hi)
		e.entries("unpatch", e.divisible(out.Len()), out, append(append(append([]any{columns}, sizes(o)...),
			divisors(o.From.Channels, o.From.Width, o.From.Height)...), device.Flag(in.Accumulate))...)
	})
}

func (c *compiler) convWeight(o graph.Conv, in graph.Instruction) command {
	x, g := in.Args[0].Buffer, in.Args[1].Buffer
	return c.convolution(o, func(e *Executor, columns device.Array[float32], lo, hi int) {
		e.patches(o, of(e.at(x), o.From, lo, hi), columns)
		e.blas.Sgemm(true, false, o.Patch(), o.To.Channels, (hi-lo)*o.To.Cells(), columns, of(e.at(g), o.To, lo, hi),
			beta(in.Accumulate || lo > 0), e.at(in.Out), 1, 0, 0, 0)
	})
}
