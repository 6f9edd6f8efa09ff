package cudanets

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets/graph"
)

// codes maps the names of elementwise functions in nets to their numbers in steps.cuh's enum Code.
var codes = func() map[string]int32 {
	to := map[string]int32{}
	for i, name := range []string{
		"=", "mask", "+", "-", "⊙", "÷", "^", "<", "<=", ">", ">=", "==", "!=",
		"neg", "abs", "sign", "ceil", "floor", "sin", "cos", "exp", "ln", "square", "cube", "sqrt", "inv", "tanh",
		"sigmoid", "log1p", "expm1", "softplus", "relu", "elu",
		"neg'", "abs'", "sin'", "cos'", "exp'", "ln'", "square'", "cube'", "sqrt'", "inv'", "tanh'",
		"sigmoid'", "log1p'", "expm1'", "softplus'", "relu'", "elu'",
		"gelu", "silu", "gelu'", "silu'",
	} {
		to[name] = int32(i)
	}
	return to
}()

// longestRun is the most instructions per launch.
const longestRun = 32

// run returns how many instructions at the start of list one elementwise launch can do. Each thread does all of them
// for its entries. So no instruction may read what another entry's thread writes, or write what another thread has yet
// to read.
func run(list []graph.Instruction) int {
	for n, in := range list {
		if !isElementwise(in.Op) || n == longestRun || in.Out.N != list[0].Out.N {
			return n
		}
		for _, before := range list[:n] {
			if clash(before.Out, graph.Operand{Buffer: in.Out}) {
				return n
			}
			for _, a := range in.Args {
				if clash(before.Out, a) {
					return n
				}
			}
			for _, a := range before.Args {
				if clash(in.Out, a) {
					return n
				}
			}
		}
	}
	return len(list)
}

func isElementwise(o graph.Op) bool {
	switch o.(type) {
	case graph.Assign, graph.Binary, graph.Unary, graph.Slope, graph.Mask:
		return true
	}
	return false
}

// clash reports whether an entry of the operand may be a different entry of the written buffer.
func clash(written *graph.Buffer, o graph.Operand) bool {
	a, b := written, o.Buffer
	return overlap(a, b) && (a.Offset != b.Offset || a.N != b.N || o.Expand.Repeat != 0)
}

// overlap reports whether two buffers share memory.
func overlap(a, b *graph.Buffer) bool {
	return a.Space == b.Space && a.Offset < b.Offset+b.N && b.Offset < a.Offset+a.N
}

// elementwise makes the command of a run.
func (c *compiler) elementwise(list []graph.Instruction) (command, error) {
	lo, hi, err := c.encode(list, 0)
	n := list[0].Out.N
	return func(e *Executor) {
		p := e.now
		e.elementwise(p.steps.Slice(lo, hi), n, p.Rows, p.states, e.batch.Seed, e.spaces)
	}, err
}

// encode appends the steps of a run from list[from] on, and returns where they are. A result goes to memory unless only
// the next instruction reads it. The accumulator begins with the result of list[from-1].
func (c *compiler) encode(list []graph.Instruction, from int) (lo, hi int, err error) {
	lo = len(c.steps)
	for i, in := range list {
		if i < from {
			continue
		}
		s := step{flags: stepStore, space: in.Out.Space, offset: in.Out.Offset}
		var last *graph.Buffer // the buffer whose entry the accumulator holds
		if i > 0 {
			last = list[i-1].Out
		}
		read := func(k int) operand { return operandOf(in.Args[k], last) }
		name := in.Op.String()
		switch o := in.Op.(type) {
		case graph.Assign:
			name, s.x = "=", read(0)
		case graph.Unary:
			s.x = read(0)
		case graph.Binary, graph.Slope:
			s.x, s.y = read(0), read(1)
		case graph.Mask:
			if name = "mask"; o.Pairs {
				name = "mask of pairs" // no kernel computes it
			}
			s.x = operand{offset: o.Layer, outer: divisor(o.Units)}
			s.threshold, s.keep = uint32(o.Rate*(1<<32)), float32(1/(1-o.Rate))
			c.program.layers = max(c.program.layers, o.Layer+1)
		}
		var ok bool
		if s.code, ok = codes[name]; !ok {
			return 0, 0, noKernel(in.Op)
		}
		if in.Accumulate {
			s.flags |= stepAccumulate
		}
		if in.Out.Space == graph.SpaceArena && c.onlyNext(list, i) {
			s.flags &^= stepStore
		}
		c.steps = s.encode(c.steps)
	}
	return lo, len(c.steps), nil
}

// onlyNext reports whether the next instruction, and no other, reads what instruction i of the run writes.
func (c *compiler) onlyNext(list []graph.Instruction, i int) bool {
	out, here := list[i].Out, c.place+i
	if i+1 == len(list) || list[i+1].Accumulate && list[i+1].Out == out {
		return false
	}
	for _, place := range c.reads[out] {
		if place > here+1 {
			return false
		}
	}
	for _, a := range list[i+1].Args {
		if a.Buffer == out && a.Expand.Repeat == 0 {
			return true
		}
	}
	return false
}

// elementwise launches encoded steps on n entries.
func (e *Executor) elementwise(steps device.Array[uint64], n, rows int, states, seed device.Array[uint64],
	s [spaces]device.Array[float32]) {
	const entries = 4 // per thread
	threads := min(256, 32*device.CeilDiv(n, 32*entries))
	args, bytes := stepArguments(steps, rows, states, seed, s)
	e.device.Launch("elementwise", device.Dim{X: min(turnBlocks, device.CeilDiv(n, entries*max(1, threads)))},
		device.Dim{X: threads}, bytes, append([]any{uint32(n)}, args...)...)
}

// stepArguments returns the parameters STEPS_PARAMETERS of steps.cuh, and the bytes of shared memory that the steps
// need.
func stepArguments(steps device.Array[uint64], rows int, states, seed device.Array[uint64],
	s [spaces]device.Array[float32]) (args []any, bytes int) {
	args = []any{steps, int32(steps.Len() / stepWords), int32(rows), states, seed}
	for _, x := range s {
		args = append(args, x)
	}
	return args, 8 * (int(spaces) + steps.Len())
}

// Ways in which a step reads an operand: enum Mode of steps.cuh.
const (
	modeNone = iota
	modeAccumulator
	modeEntry
	modeScalar
	modeQuotient
	modeRemainder
	modeSpread
)

const (
	stepStore      = 1
	stepAccumulate = 2
	stepWords      = 14
)

// step, operand and division have the layout of the structs in steps.cuh.
type step struct {
	code, flags int32
	x, y        operand
	space       graph.Space
	threshold   uint32
	offset      int
	keep        float32
}

type operand struct {
	mode         int32
	space        graph.Space
	offset       int
	outer, inner division
}

type division struct {
	by, factor uint32
	shift      int32
}

// divisor prepares the division of numbers below 2³¹ by d > 0: ⌊i/d⌋ = ⌊i·factor/2^shift⌋.
func divisor(d int) division {
	s := bits.Len(uint(d - 1)) // ⌈log₂ d⌉
	return division{uint32(d), uint32((uint64(1)<<(31+s) + uint64(d) - 1) / uint64(d)), int32(31 + s)}
}

// operandOf encodes how to read an operand. An operand equal to last is read from the accumulator.
func operandOf(a graph.Operand, last *graph.Buffer) operand {
	o := operand{mode: modeEntry, space: a.Buffer.Space, offset: a.Buffer.Offset}
	switch e := a.Expand; {
	case e.Repeat == 0:
		if a.Buffer == last {
			o.mode = modeAccumulator
		}
	case e.Outer == 1 && e.Inner == 1:
		o.mode = modeScalar
	case e.Inner == 1:
		o.mode, o.outer = modeQuotient, divisor(e.Repeat)
	case e.Outer == 1:
		o.mode, o.inner = modeRemainder, divisor(e.Inner)
	default:
		o.mode, o.outer, o.inner = modeSpread, divisor(e.Repeat*e.Inner), divisor(e.Inner)
	}
	return o
}

// encode appends the step in the kernel's format.
func (s step) encode(to []uint64) []uint64 {
	var b []byte
	put := func(xs ...uint32) {
		for _, x := range xs {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
	}
	place := func(o operand) {
		put(uint32(o.mode), uint32(o.space))
		b = binary.LittleEndian.AppendUint64(b, uint64(o.offset))
		for _, d := range []division{o.outer, o.inner} {
			put(d.by, d.factor, uint32(d.shift))
		}
	}
	put(uint32(s.code), uint32(s.flags))
	place(s.x)
	place(s.y)
	put(uint32(s.space), s.threshold)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.offset))
	put(math.Float32bits(s.keep), 0)
	for len(b) > 0 {
		to = append(to, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	return to
}
