package graph

import (
	"cmp"
	"maps"
	"slices"
)

// Instruction is one step of a program: an op with the buffers that it reads and writes.
type Instruction struct {
	Op         Op
	Out        *Buffer
	Args       []Operand
	Accumulate bool // add to out
}

// Operand is a buffer that an instruction reads, directly or through an Expand.
type Operand struct {
	Buffer *Buffer
	Expand Expand // Repeat 0: none
}

// Buffer is N entries of a space, starting at an offset. For buffers in the arena, allocate chooses the offset by their
// lifetime, which runs from the first to the last instruction that touches them.
type Buffer struct {
	Space       Space
	Offset, N   int
	first, last int
	Shape       []int // of the value, if known
}

// planner turns values into instructions, in the order in which they are needed. Elementwise ops read an Expand in
// place. A matrix product or a reduction that is used once, as a term of a sum, is added to the other term in place.
type planner struct {
	uses map[*value]int
	made map[*value]*Buffer
	list []Instruction
}

// count counts the uses of v and of what it is computed from.
func (p *planner) count(v *value) {
	if p.uses[v]++; p.uses[v] > 1 {
		return
	}
	for _, a := range v.args {
		p.count(a)
	}
}

// transpose makes (A·B)ᵀ, where nothing else reads A·B, the product Bᵀ·Aᵀ: the gradient of weights that the network
// reads transposed is then added in place. It comes after all uses are counted.
func (p *planner) transpose() {
	byID := slices.SortedFunc(maps.Keys(p.uses), func(v, w *value) int { return cmp.Compare(v.id, w.id) })
	for _, v := range byID {
		t, ok := v.op.(Permute)
		if !ok || !t.isMatrix() || p.uses[v.args[0]] > 1 {
			continue
		}
		if o, ok := v.args[0].op.(MatMul); ok && o.Batch == 1 {
			x, y := v.args[0].args[0], v.args[0].args[1]
			v.op, v.args = MatMul{Batch: 1, M: o.N, N: o.M, K: o.K, TransA: !o.TransB, TransB: !o.TransA}, []*value{y, x}
		}
	}
}

// need returns the buffer that holds v. The first call emits the instructions that compute it.
func (p *planner) need(v *value) *Buffer {
	if b, ok := p.made[v]; ok {
		return b
	}
	var b *Buffer
	switch o := v.op.(type) {
	case leaf:
		b = &Buffer{Space: o.space, Offset: o.offset, N: v.size()}
	case view:
		b = p.need(v.args[0])
	default:
		b = &Buffer{Space: SpaceArena, N: v.size(), first: -1, Shape: v.shape}
		p.write(v, b, false)
	}
	p.made[v] = b
	return b
}

// into writes v to out, or adds it to out.
func (p *planner) into(v *value, out *Buffer, accumulate bool) {
	if p.shared(v) {
		p.emit(Assign{}, out, accumulate, Operand{Buffer: p.need(v)})
		return
	}
	p.write(v, out, accumulate)
}

// shared reports whether v has or needs its own buffer.
func (p *planner) shared(v *value) bool {
	if _, ok := v.op.(Expand); ok {
		return p.made[v] != nil
	}
	_, isLeaf := v.op.(leaf)
	return isLeaf || p.made[v] != nil || p.uses[v] > 1
}

func (p *planner) write(v *value, out *Buffer, accumulate bool) {
	switch o := v.op.(type) {
	case leaf:
		p.emit(Assign{}, out, accumulate, Operand{Buffer: p.need(v)})
		return
	case view:
		p.into(v.args[0], out, accumulate)
		return
	case Expand:
		p.emit(Assign{}, out, accumulate, Operand{p.need(v.args[0]), o})
		return
	case Binary:
		if o.f == addition && p.writeSum(v.args[0], v.args[1], out, accumulate) {
			return
		}
	}
	if _, ok := v.op.(accumulator); accumulate && !ok {
		b := &Buffer{Space: SpaceArena, N: v.size(), first: -1}
		p.emit(v.op, b, false, p.operands(v)...)
		p.emit(Assign{}, out, true, Operand{Buffer: b})
		return
	}
	p.emit(v.op, out, accumulate, p.operands(v)...)
}

// writeSum writes x + y term by term if one of them can be added in place; otherwise it returns false.
func (p *planner) writeSum(x, y *value, out *Buffer, accumulate bool) bool {
	if p.addable(x) && !p.addable(y) {
		x, y = y, x
	}
	if !accumulate && !p.addable(y) {
		return false
	}
	for _, term := range []*value{x, y} { // compute the arguments first: out is then live for a shorter time
		if !p.shared(term) {
			p.operands(term)
		}
	}
	p.into(x, out, accumulate)
	p.into(y, out, true)
	return true
}

func (p *planner) addable(v *value) bool {
	_, ok := v.op.(accumulator)
	return ok && !p.shared(v)
}

// operands emits the computation of the arguments of v and returns them.
func (p *planner) operands(v *value) []Operand {
	out := make([]Operand, len(v.args))
	spread := false
	for i := len(v.args) - 1; i >= 0; i-- {
		a := v.args[i]
		if e, x := expanded(a); x != nil && !spread && p.made[a] == nil {
			if _, ok := v.op.(Binary); ok {
				out[i], spread = Operand{p.need(x), e}, true
				continue
			}
		}
		out[i].Buffer = p.need(a)
	}
	return out
}

// expanded looks through views for an Expand and returns it with its argument; nil if there is none.
func expanded(v *value) (Expand, *value) {
	for {
		switch o := v.op.(type) {
		case view:
			v = v.args[0]
		case Expand:
			return o, v.args[0]
		default:
			return Expand{}, nil
		}
	}
}

func (p *planner) emit(o Op, out *Buffer, accumulate bool, args ...Operand) {
	p.touch(out)
	for _, a := range args {
		p.touch(a.Buffer)
	}
	p.list = append(p.list, Instruction{Op: o, Out: out, Args: args, Accumulate: accumulate})
}

func (p *planner) touch(b *Buffer) {
	if b.first < 0 {
		b.first = len(p.list)
	}
	b.last = len(p.list)
}

// alignment is that of buffers in the arena, in float32s: one cache line.
const alignment = 16

// allocate gives every arena buffer an offset such that buffers live at the same time do not overlap, and returns the
// size of the arena. The first forward instructions are the forward pass. The sections after it may run any number of
// times and read its results, so buffers that are still live at its end stay live to the end of the list.
func allocate(list []Instruction, forward int) int {
	for _, in := range list {
		if in.Out.first < forward && in.Out.last >= forward {
			in.Out.last = len(list)
		}
	}
	var live []*Buffer // by offset
	size := 0
	for i, in := range list {
		live = slices.DeleteFunc(live, func(b *Buffer) bool { return b.last < i })
		b := in.Out
		if b.Space != SpaceArena || b.first != i {
			continue
		}
		if at := inPlace(in, i); at != nil {
			b.Offset = at.Offset
			live[slices.Index(live, at)] = b
			continue
		}
		b.Offset = 0
		for _, l := range live {
			if b.Offset+b.N <= l.Offset {
				break
			}
			b.Offset = max(b.Offset, roundUp(l.Offset+l.N, alignment))
		}
		live = append(live, b)
		slices.SortFunc(live, func(x, y *Buffer) int { return cmp.Compare(x.Offset, y.Offset) })
		size = max(size, b.Offset+b.N)
	}
	return roundUp(size, alignment)
}

// inPlace returns an argument that elementwise instruction i can overwrite with its result, or nil.
func inPlace(in Instruction, i int) *Buffer {
	switch in.Op.(type) {
	case Binary, Unary, Slope:
	default:
		return nil
	}
	for _, a := range in.Args {
		if b := a.Buffer; b.Space == SpaceArena && b.last == i && b.N == in.Out.N && a.Expand.Repeat == 0 {
			return b
		}
	}
	return nil
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
