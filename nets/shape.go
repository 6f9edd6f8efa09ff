package nets

import "fmt"

// permute reorders the axes of an array of shape from: axis i of the result is axis order[i] of the argument.
type permute struct{ from, order []int }

func (p permute) String() string { return fmt.Sprintf("permute%v", p.order) }

func (p permute) isMatrix() bool { return len(p.from) == 2 && p.order[0] == 1 }

func (p permute) tangent(b *builder, v *value, d []*value) *value { return b.add(p, v.shape, d[0]) }

func (p permute) run(m *machine, in *instruction) {
	out, x := m.at(in.out), m.at(in.args[0].buffer)
	var stride, size, at [8]int
	for i, axis := range p.order {
		size[i], stride[i] = p.from[axis], product(p.from[axis+1:])
	}
	last, pos := len(p.order)-1, 0
	for i := range out {
		out[i] = x[pos]
		for a := last; a >= 0; a-- {
			at[a]++
			pos += stride[a]
			if at[a] < size[a] {
				break
			}
			pos -= stride[a] * size[a]
			at[a] = 0
		}
	}
}

// concat joins arrays of outer×widths[i] entries into outer×Σwidths.
type concat struct {
	outer  int
	widths []int
}

func (c concat) String() string { return fmt.Sprintf("concat %v", c.widths) }

func (c concat) tangent(b *builder, v *value, d []*value) *value {
	parts := make([]*value, len(d))
	for i := range d {
		if parts[i] = d[i]; d[i] == nil {
			parts[i] = b.expand(b.scalar(0), expand{1, v.args[i].size(), 1}, v.args[i].shape)
		}
	}
	return b.add(c, v.shape, parts...)
}

func (c concat) run(m *machine, in *instruction) {
	out := m.at(in.out)
	row, at := len(out)/c.outer, 0
	for i, w := range c.widths {
		x := m.at(in.args[i].buffer)
		for o := range c.outer {
			copy(out[o*row+at:o*row+at+w], x[o*w:(o+1)*w])
		}
		at += w
	}
}

// slice takes entries lo, lo+step, … (count of them) along the middle axis of outer×size×inner.
type slice struct{ outer, size, inner, lo, step, count int }

func (s slice) String() string { return fmt.Sprintf("slice %d+%d·%d", s.lo, s.count, s.step) }

func (s slice) tangent(b *builder, v *value, d []*value) *value { return b.add(s, v.shape, d[0]) }

func (s slice) run(m *machine, in *instruction) {
	out, x := m.at(in.out), m.at(in.args[0].buffer)
	for o := range s.outer {
		for c := range s.count {
			from := (o*s.size + s.lo + c*s.step) * s.inner
			copy(out[(o*s.count+c)*s.inner:][:s.inner], x[from:from+s.inner])
		}
	}
}

// unslice puts its argument where slice took it from, and zero elsewhere: the adjoint of slice.
type unslice struct{ slice }

func (s unslice) String() string { return "un" + s.slice.String() }

func (s unslice) tangent(b *builder, v *value, d []*value) *value { return b.add(s, v.shape, d[0]) }

func (s unslice) accumulates() {}

func (s unslice) run(m *machine, in *instruction) {
	out, x := m.at(in.out), m.at(in.args[0].buffer)
	if !in.accumulate {
		clear(out)
	}
	for o := range s.outer {
		for c := range s.count {
			to := out[(o*s.size+s.lo+c*s.step)*s.inner:][:s.inner]
			fast.add(to, to, x[(o*s.count+c)*s.inner:][:s.inner])
		}
	}
}
