package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets/graph"
)

func matmul(o graph.MatMul, in graph.Instruction) command {
	return func(e *Executor) { e.multiply(o, in, nil) }
}

// multiply enqueues a product, and the epilogue if it is not nil. Features that are not gathered are read where the
// data has them.
func (e *Executor) multiply(o graph.MatMul, in graph.Instruction, then *device.Epilogue) {
	a, b, c, add := in.Args[0].Buffer, e.at(in.Args[1].Buffer), e.at(in.Out), beta(in.Accumulate)
	switch {
	case a.Space == graph.SpaceFeatures && !e.now.gathers(e.batch.Data):
		e.blas.SgemmRows(o.TransA, o.TransB, o.M, o.N, o.K, e.batch.Data.Features, e.batch.Source, b, add, c, then)
	case then != nil:
		e.blas.SgemmThen(o.TransA, o.TransB, o.M, o.N, o.K, e.at(a), b, add, c, o.Batch, *then)
	default:
		e.blas.Sgemm(o.TransA, o.TransB, o.M, o.N, o.K, e.at(a), b, add, c, o.Batch, o.M*o.K, o.K*o.N, o.M*o.N)
	}
}

// onlyMultiplied reports whether a program reads its features only as the first factor of products, row by row. Those
// can read them where the data has them.
func onlyMultiplied(of *graph.Program, lists [][]graph.Instruction) bool {
	for _, list := range lists {
		for _, in := range list {
			o, product := in.Op.(graph.MatMul)
			rows := o.M
			if o.TransA {
				rows = o.K
			}
			for i, a := range in.Args {
				whole := product && i == 0 && o.Batch == 1 && rows == of.Rows && a.Buffer.Offset == 0 && a.Buffer.N == o.M*o.K
				if a.Buffer.Space == graph.SpaceFeatures && !whole {
					return false
				}
			}
		}
	}
	return true
}

// gathers reports whether the program needs the features of a batch of the data in an array of their own.
func (p *program) gathers(data *resident.Data) bool {
	return p.Needs.Features && (!p.inPlace || data.Crops != nil)
}

// epilogue returns how many elementwise instructions after a product at the start of list the product's own kernel can
// do: as many as a launch of their own could, if the first one reads the product. Other blocks still read the factors,
// so none may write there.
func (c *compiler) epilogue(list []graph.Instruction) int {
	o, product := list[0].Op.(graph.MatMul)
	if !product {
		return 0
	}
	of, then := list[0], list[1:]
	n := run(then)
	if n == 0 || then[0].Out.N != of.Out.N || !reads(then[0], of.Out) || c.executor.apart ||
		!c.executor.blas.HasEpilogues(o.Batch) {
		return 0
	}
	for i, in := range then[:n] {
		bad := clash(of.Out, graph.Operand{Buffer: in.Out})
		for _, a := range in.Args {
			bad = bad || clash(of.Out, a)
		}
		for _, factor := range of.Args {
			bad = bad || overlap(in.Out, factor.Buffer)
		}
		if bad {
			return i
		}
	}
	return n
}

// reads reports whether an instruction reads each entry of a buffer for its own entry.
func reads(in graph.Instruction, b *graph.Buffer) bool {
	if in.Accumulate && in.Out == b {
		return true
	}
	for _, a := range in.Args {
		if a.Buffer == b && a.Expand.Repeat == 0 {
			return true
		}
	}
	return false
}

// productThen makes the command of a product and the elementwise instructions after it. The product itself goes to
// memory unless only the first of them reads it.
func (c *compiler) productThen(list []graph.Instruction) (command, error) {
	of, start := list[0], len(c.steps)
	if of.Out.Space != graph.SpaceArena || !c.onlyNext(list, 0) {
		c.steps = step{code: codes["="], flags: stepStore, x: operand{mode: modeAccumulator}, space: of.Out.Space,
			offset: of.Out.Offset}.encode(c.steps)
	}
	_, hi, err := c.encode(list, 1)
	o := of.Op.(graph.MatMul)
	return func(e *Executor) {
		p := e.now
		args, bytes := stepArguments(p.steps.Slice(start, hi), p.Rows, p.states, e.batch.Seed, e.spaces)
		e.multiply(o, of, &device.Epilogue{Args: args, Bytes: bytes})
	}, err
}
