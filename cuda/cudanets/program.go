package cudanets

import (
	"errors"
	"fmt"
	"math"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

var errNotReserved = errors.New("cuda: a network was run before Reserve and Score")

// program is a graph.Program on a device.
type program struct {
	*graph.Program
	run struct{ forward, pullback, push []command } // push adds to the potentials
	// by command of pullback: weights 0 to final−1 change no more after it; 0: no news
	final []int

	arena, literals, features, boundary, edges device.Array[float32]
	// products read the features where the data has them, unless those are crops
	inPlace    bool
	steps      device.Array[uint64] // of elementwise runs
	ids        map[int]device.Array[int32]
	states     device.Array[uint64] // [layers×Rows] of dropout
	layers     int
	sort       sorting
	partial    device.Array[float32] // partial sums of reductions
	patterns   map[*int32]pattern
	pairs      pairs
	splits     splits
	characters characters
	bags       map[bagTable]bool // that Pullback scatters to
}

// command enqueues the work of one instruction, or of a run of elementwise instructions.
type command func(e *Executor)

// owned are arrays that are freed together.
type owned struct {
	device *device.Device
	frees  []func()
}

func (o *owned) free() {
	for _, f := range o.frees {
		f()
	}
	o.frees = nil
}

// own allocates an array that is freed with its owner.
func own[E device.Element](o *owned, n int, what string) device.Array[E] {
	x := device.New[E](o.device, n, what)
	o.frees = append(o.frees, func() { device.Free(o.device, x) })
	return x
}

// ownCopy is own with content.
func ownCopy[E device.Element](o *owned, from []E, what string) device.Array[E] {
	x := own[E](o, len(from), what)
	device.Upload(o.device, x, from)
	return x
}

// share returns n entries of an array that programs share. If the array is too small, share replaces it; programs that
// use the old array keep it.
func (e *Executor) share(x *device.Array[float32], n int, what string) device.Array[float32] {
	if x.Len() < n {
		*x = own[float32](&e.owned, n, what)
	}
	return x.Slice(0, n)
}

// compile turns a program's instructions into commands, and allocates the memory that they need.
func (e *Executor) compile(of *graph.Program) (*program, error) {
	if n := len(of.Form.Parts); n > mostParts {
		return nil, device.Unsupported("network %q has potentials of %d parts, the kernels support up to %d",
			e.net.Name(), n, mostParts)
	}
	p := &program{Program: of, ids: map[int]device.Array[int32]{}, patterns: map[*int32]pattern{},
		bags: map[bagTable]bool{}}
	lists := schedule(of)
	for _, list := range lists {
		for _, in := range list {
			if err := e.check32(in); err != nil {
				return nil, err
			}
		}
	}
	const what = "the network's arrays"
	p.arena = e.share(&e.memory.arena, of.Arena, what)
	p.literals = ownCopy(&e.owned, of.Literals, what)
	if v := e.net.Input().Vectors; v != nil && e.memory.vectors.Len() == 0 {
		e.memory.vectors = ownCopy(&e.owned, v.Rows, "the vectors of words")
	}
	p.inPlace = !e.gather && e.blas != nil && e.blas.HasRows() && onlyMultiplied(of, lists[:])
	if of.Needs.Boundary {
		p.boundary = e.share(&e.memory.boundary, of.Rows*2, what)
	}
	if of.Needs.EdgeFeatures {
		p.edges = e.share(&e.memory.edges, of.Pairs*e.net.Input().EdgeDim, what)
	}
	for _, f := range of.Needs.Fields {
		p.ids[f] = own[int32](&e.owned, of.Rows, what)
	}
	if of.Needs.Pairs {
		p.pairs = pairs{own[int32](&e.owned, of.Pairs, what), own[int32](&e.owned, of.Pairs, what),
			own[int32](&e.owned, of.Pairs, what)}
	}
	if of.Needs.Split {
		p.splits = splits{own[int32](&e.owned, of.Rows, what), own[int32](&e.owned, of.Rows, what)}
	}
	p.characters.allocate(&e.owned, of, what)
	c := compiler{executor: e, program: p, reads: readings(lists[:])}
	for i, to := range []*[]command{&p.run.forward, &p.run.pullback, &p.run.push} {
		var ends []int
		var err error
		if *to, ends, err = c.list(lists[i]); err != nil {
			return nil, fmt.Errorf("network %q: %w", e.net.Name(), err)
		}
		if to == &p.run.pullback {
			p.final = finals(lists[i], ends, e.net.Dim(), e.device.LeastSent())
		}
	}
	p.steps = ownCopy(&e.owned, c.steps, what)
	p.partial = own[float32](&e.owned, c.partial, what)
	e.share(&e.memory.columns, c.columns, what)
	p.states = own[uint64](&e.owned, p.layers*of.Rows, what)
	p.sort.allocate(&e.owned, c.sort, what)
	return p, nil
}

// check32 refuses arrays that exceed the kernels' 32-bit indices.
func (e *Executor) check32(in graph.Instruction) error {
	n := in.Out.N
	for _, a := range in.Args {
		n = max(n, a.Buffer.N)
	}
	if n > math.MaxInt32 {
		return structured.BadInput("network %q: %s works on %d numbers at once, a CUDA kernel supports up to %d; use "+
			"smaller layers or batches", e.net.Name(), in.Op, n, math.MaxInt32)
	}
	return nil
}

// compiler makes the commands of one program.
type compiler struct {
	executor *Executor
	program  *program
	reads    map[*graph.Buffer][]int // instructions that read a buffer, numbered across the three lists
	place    int                     // number of the next instruction
	steps    []uint64
	partial  int // floats that reductions need
	columns  int // floats that convolutions need
	sort     sortingNeeds
}

func (c *compiler) list(list []graph.Instruction) (commands []command, ends []int, err error) {
	for at := 0; len(list) > 0; {
		n := run(list)
		var made command
		switch steps := c.epilogue(list); {
		case n > 0:
			made, err = c.elementwise(list[:n])
		case steps > 0:
			n = 1 + steps
			made, err = c.productThen(list[:n])
		default:
			n = 1
			made, err = c.instruction(list[0])
		}
		if err != nil {
			return nil, nil, err
		}
		at += n
		commands, ends = append(commands, made), append(ends, at)
		list = list[n:]
		c.place += n
	}
	return commands, ends, nil
}

// mostSent is in how many parts a gradient is sent at most.
const mostSent = 8

// finals returns for each command of a pullback, after which ends of its instructions are done, how many weights, from
// the first one on, no later instruction changes, where these are many more than at the last news: at least least, and
// a share of all. Otherwise it is 0, also after the last command.
func finals(list []graph.Instruction, ends []int, dim, least int) []int {
	final, told := make([]int, len(ends)), 0
	least = max(least, device.CeilDiv(dim, mostSent))
	for k := range len(ends) - 1 {
		n := dim
		for _, in := range list[ends[k]:] {
			if in.Out.Space == graph.SpaceGradient {
				n = min(n, in.Out.Offset)
			}
		}
		if n-told >= least {
			final[k], told = n, n
		}
	}
	return final
}

// instruction makes the command of an instruction that is not elementwise.
func (c *compiler) instruction(in graph.Instruction) (command, error) {
	switch o := in.Op.(type) {
	case graph.MatMul:
		return matmul(o, in), nil
	case graph.Gather:
		return c.gather(o, in), nil
	case graph.Scatter:
		return c.scatter(o, in), nil
	case graph.Bilinear:
		return bilinear(o, in), nil
	case graph.BilinearDependents:
		return bilinearDependents(o, in), nil
	case graph.BilinearHeads:
		return bilinearHeads(o, in), nil
	case graph.BilinearRoot:
		return bilinearRoot(o, in), nil
	case graph.Conv:
		return c.conv(o, in), nil
	case graph.ConvInput:
		return c.convInput(o.Conv, in), nil
	case graph.ConvWeight:
		return c.convWeight(o.Conv, in), nil
	case graph.Align:
		return align(o, in), nil
	case graph.AlignSources:
		return alignPull("align_sources", o.Align, in), nil
	case graph.AlignTargets:
		return alignPull("align_targets", o.Align, in), nil
	case graph.SegmentMax:
		return segmentMax(o, in), nil
	case graph.SegmentMaxPush:
		return segmentMaxPush(o, in), nil
	case graph.SegmentMaxPull:
		return segmentMaxPull(o, in), nil
	case graph.Bag:
		return bag(o, in), nil
	case graph.BagScatter:
		return c.bagScatter(o, in), nil
	case graph.Attention:
		return attention("attention", o, in), nil
	case graph.AttentionPush:
		return attention("attention_push", o.Attention, in), nil
	case graph.AttentionPull:
		return c.attentionPull(o.Attention, in), nil
	case graph.Rotation:
		if o.Base != graph.WaveBase {
			return nil, noKernel(o)
		}
		return c.rotate(o, in), nil
	case graph.Sinusoids:
		return c.sinusoids(o, in), nil
	case graph.Recurrence:
		return c.recurrence(o, in), nil
	case graph.TimesPrevious:
		return timesPrevious(o, in), nil
	case graph.Normalise:
		if o.Floor != graph.NormaliseFloor {
			return nil, noKernel(o)
		}
		return normalise("normalise", o, in), nil
	case graph.NormalisePull:
		if o.Floor != graph.NormaliseFloor {
			return nil, noKernel(o)
		}
		return normalise("normalise_pull", o.Normalise, in), nil
	case graph.Sum:
		return c.reduce("reduce_sum", o.Outer, o.Repeat, o.Inner, in), nil
	case graph.Maximum:
		return c.reduce("reduce_max", o.Outer, o.Repeat, o.Inner, in), nil
	case graph.Softmax:
		return softmax("softmax", o, in), nil
	case graph.SoftmaxPull:
		return softmax("softmax_pull", o.Softmax, in), nil
	case graph.MaxPool:
		return pool("pool_max", o.Pooling, in), nil
	case graph.PoolPush:
		return pool("pool_push", o.Pooling, in), nil
	case graph.PoolPull:
		return pool("pool_pull", o.Pooling, in), nil
	case graph.Permute:
		return c.permute(o, in), nil
	case graph.Concat:
		return concat(o, in), nil
	case graph.Slice:
		return slice("slice", o, in), nil
	case graph.Unslice:
		return slice("unslice", o.Slice, in, device.Flag(in.Accumulate)), nil
	}
	return nil, noKernel(in.Op)
}

func noKernel(o graph.Op) error {
	return device.Unsupported("op %q (%T) has no kernel", o, o)
}

// entries launches a kernel with one thread for each of n entries; n and out are its last arguments.
func (e *Executor) entries(kernel string, n int, out any, args ...any) {
	const threads = 256
	e.device.Launch(kernel, device.Dim{X: device.CeilDiv(n, threads)},
		device.Dim{X: min(threads, 32*device.CeilDiv(n, 32))}, 0, append(args, uint32(n), out)...)
}
