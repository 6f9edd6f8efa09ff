package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets/graph"
)

// Functions returns the names of elementwise.cu's functions.
func Functions() []string {
	var names []string
	for name := range codes {
		if name != "=" && name != "mask" {
			names = append(names, name)
		}
	}
	return names
}

// Apply computes a function of elementwise.cu for the entries of x and, for functions of two arguments and slopes, of
// y.
func Apply(d *device.Device, name string, x, y []float32) []float32 {
	o := owned{device: d}
	defer o.free()
	entry := func(s graph.Space) operand { return operand{mode: modeEntry, space: s} }
	s := step{code: codes[name], flags: stepStore, x: entry(graph.SpaceWeights), y: entry(graph.SpaceLiterals),
		space: graph.SpaceArena}
	out := own[float32](&o, len(x), "out")
	e := Executor{device: d}
	e.elementwise(ownCopy(&o, s.encode(nil), "a step"), len(x), 0, device.Array[uint64]{}, device.Array[uint64]{},
		[spaces]device.Array[float32]{
			graph.SpaceWeights: ownCopy(&o, x, "x"), graph.SpaceLiterals: ownCopy(&o, y, "y"), graph.SpaceArena: out,
		})
	to := make([]float32, len(x))
	device.Download(d, to, out)
	return to
}

// AddExpanded returns before + (x + y), for y expanded to the size of x. The arrays of before, x and y begin at the
// given places of larger ones.
func AddExpanded(d *device.Device, before, x, y []float32, by graph.Expand, places [3]int) []float32 {
	o := owned{device: d}
	defer o.free()
	at := func(space graph.Space, k int, values []float32) (graph.Buffer, device.Array[float32]) {
		whole := append(make([]float32, places[k]), values...)
		return graph.Buffer{Space: space, Offset: places[k], N: len(values)}, ownCopy(&o, whole, "operand")
	}
	out, outs := at(graph.SpaceArena, 0, before)
	first, firsts := at(graph.SpaceWeights, 1, x)
	second, seconds := at(graph.SpaceLiterals, 2, y)
	s := step{code: codes["+"], flags: stepStore | stepAccumulate, x: operandOf(graph.Operand{Buffer: &first}, nil),
		y: operandOf(graph.Operand{Buffer: &second, Expand: by}, nil), space: out.Space, offset: out.Offset}
	e := Executor{device: d}
	e.elementwise(ownCopy(&o, s.encode(nil), "a step"), len(x), 0, device.Array[uint64]{}, device.Array[uint64]{},
		[spaces]device.Array[float32]{graph.SpaceArena: outs, graph.SpaceWeights: firsts, graph.SpaceLiterals: seconds})
	to := make([]float32, places[0]+len(x))
	device.Download(d, to, outs)
	return to[places[0]:]
}

// Divide divides as the kernels do.
func Divide(i uint32, by int) uint32 {
	d := divisor(by)
	return uint32(uint64(i) * uint64(d.factor) >> d.shift)
}

// Compile returns the error of compiling an instruction.
func Compile(o graph.Op) error {
	b := &graph.Buffer{N: 1}
	in := graph.Instruction{Op: o, Out: b, Args: []graph.Operand{{Buffer: b}, {Buffer: b}}}
	_, _, err := (&compiler{program: &program{}}).list([]graph.Instruction{in})
	return err
}

// Launches returns the number of commands and of instructions of the program for a batch.
func (e *Executor) Launches(b *resident.Batch) (commands, instructions int) {
	p := e.programs[e.sizeOf(b)]
	return len(p.run.forward) + len(p.run.pullback) + len(p.run.push), len(p.Forward) + len(p.Pullback) + len(p.Push)
}

// Run computes an instruction with op o and n entries from args; with accumulate it adds to before.
func Run(d *device.Device, o graph.Op, n int, before []float32, args ...[]float32) ([]float32, error) {
	e := NewExecutor(d, nil, nil)
	defer e.Free()
	in := graph.Instruction{Op: o, Out: &graph.Buffer{N: n}, Accumulate: before != nil}
	memory := make([]float32, n)
	copy(memory, before)
	for _, a := range args {
		in.Args = append(in.Args, graph.Operand{Buffer: &graph.Buffer{Offset: len(memory), N: len(a)}})
		memory = append(memory, a...)
	}
	p := &program{Program: &graph.Program{}}
	c := compiler{executor: e, program: p}
	list, _, err := c.list([]graph.Instruction{in})
	if err != nil {
		return nil, err
	}
	p.partial = own[float32](&e.owned, c.partial, "partial sums")
	e.now, e.spaces[graph.SpaceArena] = p, ownCopy(&e.owned, memory, "memory")
	e.run(list)
	out := make([]float32, n)
	device.Download(d, out, e.at(in.Out))
	return out, d.Err()
}

// Sort returns ids sorted, with padding in place of −1, and the original index of each.
func Sort(d *device.Device, ids []int32, padding, passes int) (keys, order []int32) {
	e := NewExecutor(d, nil, nil)
	defer e.Free()
	e.now = &program{}
	e.now.sort.allocate(&e.owned, sortingNeeds{len(ids), 256 * device.CeilDiv(len(ids), sortStretch(len(ids))), 1},
		"a sort")
	k, o := e.sorted(ownCopy(&e.owned, ids, "ids"), padding, passes)
	keys, order = make([]int32, len(ids)), make([]int32, len(ids))
	device.Download(d, keys, k)
	device.Download(d, order, o)
	return keys, order
}

// SortStretch is how many numbers one warp sorts at once.
var SortStretch = sortStretch

// NewPairBatch is NewBatch for data with a row for every pair of positions.
func NewPairBatch(data *resident.Data, chains, rows, longest, pairs int) *resident.Batch {
	return data.NewBatch(resident.Capacity{Chains: chains, Rows: rows, Longest: longest, Others: pairs,
		Chars: graph.CharBucket(data.CharactersBetween(0, data.Set.Positions()))})
}

// SetColumnNumbers bounds the patches that a convolution has in memory at a time. It returns the bound before.
func SetColumnNumbers(n int) (before int) {
	before, columnNumbers = columnNumbers, n
	return before
}

// SetMostTiles bounds the shared memory of attention. It returns the bound before.
func SetMostTiles(n int) int {
	before := mostTiles
	mostTiles = n
	return before
}

// KeepApart makes products and what follows them launches of their own. Call it before Reserve.
func (e *Executor) KeepApart() { e.apart = true }

// GatherFeatures makes products read gathered features. Call it before Reserve.
func (e *Executor) GatherFeatures() { e.gather = true }

// FeatureBytes returns the memory for gathered features.
func (e *Executor) FeatureBytes() int { return 4 * e.memory.features.Len() }

// Epilogue returns how many of the instructions after a product its kernel takes.
func Epilogue(blas *device.BLAS, list []graph.Instruction) int {
	c := compiler{executor: NewExecutor(nil, nil, blas), program: &program{}}
	return c.epilogue(list)
}

func Finals(list []graph.Instruction, ends []int, dim, least int) []int {
	return finals(list, ends, dim, least)
}
