package nets

// instruction is one step of a program: an op with the buffers that it reads and writes.
type instruction struct {
	op         op
	out        *buffer
	args       []operand
	accumulate bool // add to out
}

// operand is a buffer as an instruction reads it: as it is, or spread.
type operand struct {
	buffer *buffer
	expand expand // repeat 0: as it is
}

// buffer is n entries of a space from an offset. Those in the arena get theirs from allocate, by their life: from the
// first to the last instruction that touches them.
type buffer struct {
	space       space
	offset, n   int
	first, last int
}

// planner turns values into instructions, in the order in which they are needed. An expand is read in place by
// elementwise ops; a product or a sum over an axis that is only used as a term is added to the other term in place.
type planner struct {
	uses map[*value]int
	made map[*value]*buffer
	list []instruction
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

// need returns the buffer that holds v, emitting what computes it on the first call.
func (p *planner) need(v *value) *buffer {
	if b, ok := p.made[v]; ok {
		return b
	}
	var b *buffer
	switch o := v.op.(type) {
	case leaf:
		b = &buffer{space: o.space, offset: o.offset, n: v.size()}
	case view:
		b = p.need(v.args[0])
	default:
		b = &buffer{space: arena, n: v.size(), first: -1}
		p.write(v, b, false)
	}
	p.made[v] = b
	return b
}

// into writes v to out, or adds it.
func (p *planner) into(v *value, out *buffer, accumulate bool) {
	if p.shared(v) {
		p.emit(assign{}, out, accumulate, operand{buffer: p.need(v)})
		return
	}
	p.write(v, out, accumulate)
}

// shared reports whether v has, or should have, a buffer of its own.
func (p *planner) shared(v *value) bool {
	if _, ok := v.op.(expand); ok {
		return p.made[v] != nil
	}
	_, isLeaf := v.op.(leaf)
	return isLeaf || p.made[v] != nil || p.uses[v] > 1
}

func (p *planner) write(v *value, out *buffer, accumulate bool) {
	switch o := v.op.(type) {
	case leaf:
		p.emit(assign{}, out, accumulate, operand{buffer: p.need(v)})
		return
	case view:
		p.into(v.args[0], out, accumulate)
		return
	case expand:
		p.emit(assign{}, out, accumulate, operand{p.need(v.args[0]), o})
		return
	case binary:
		if o.f == addition && p.writeSum(v.args[0], v.args[1], out, accumulate) {
			return
		}
	}
	if _, ok := v.op.(accumulator); accumulate && !ok {
		b := &buffer{space: arena, n: v.size(), first: -1}
		p.emit(v.op, b, false, p.operands(v)...)
		p.emit(assign{}, out, true, operand{buffer: b})
		return
	}
	p.emit(v.op, out, accumulate, p.operands(v)...)
}

// writeSum writes x + y term by term where a term can be added in place.
func (p *planner) writeSum(x, y *value, out *buffer, accumulate bool) bool {
	if p.addable(x) && !p.addable(y) {
		x, y = y, x
	}
	if !accumulate && !p.addable(y) {
		return false
	}
	for _, term := range []*value{x, y} { // first what the terms need, so that out is held for a short time
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

// operands returns the arguments of v, computed.
func (p *planner) operands(v *value) []operand {
	out := make([]operand, len(v.args))
	spread := false
	for i := len(v.args) - 1; i >= 0; i-- {
		a := v.args[i]
		if e, x := expanded(a); x != nil && !spread && p.made[a] == nil {
			if _, ok := v.op.(binary); ok {
				out[i], spread = operand{p.need(x), e}, true
				continue
			}
		}
		out[i].buffer = p.need(a)
	}
	return out
}

// expanded looks through views for an expand, and returns it with its argument.
func expanded(v *value) (expand, *value) {
	for {
		switch o := v.op.(type) {
		case view:
			v = v.args[0]
		case expand:
			return o, v.args[0]
		default:
			return expand{}, nil
		}
	}
}

func (p *planner) emit(o op, out *buffer, accumulate bool, args ...operand) {
	p.touch(out)
	for _, a := range args {
		p.touch(a.buffer)
	}
	p.list = append(p.list, instruction{op: o, out: out, args: args, accumulate: accumulate})
}

func (p *planner) touch(b *buffer) {
	if b.first < 0 {
		b.first = len(p.list)
	}
	b.last = len(p.list)
}
