package graph

import (
	"fmt"

	"github.com/dsp-go/dsp/nets/kernels"
)

// Permute reorders the axes of an array of shape From: axis i of the result is axis Order[i] of the argument.
type Permute struct{ From, Order []int }

func (p Permute) String() string { return fmt.Sprintf("permute%v", p.Order) }

func (p Permute) isMatrix() bool { return len(p.From) == 2 && p.Order[0] == 1 }

func (p Permute) tangent(b *builder, v *value, d []*value) *value { return b.add(p, v.shape, d[0]) }

func (p Permute) Run(m *Machine, in *Instruction) {
	out, x := m.At(in.Out), m.At(in.Args[0].Buffer)
	var stride, size, at [8]int
	for i, axis := range p.Order {
		size[i], stride[i] = p.From[axis], product(p.From[axis+1:])
	}
	last, pos := len(p.Order)-1, 0
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

// Concat joins arrays of Outer×Widths[i] entries into Outer×ΣWidths.
type Concat struct {
	Outer  int
	Widths []int
}

func (c Concat) String() string { return fmt.Sprintf("concat %v", c.Widths) }

func (c Concat) tangent(b *builder, v *value, d []*value) *value {
	parts := make([]*value, len(d))
	for i := range d {
		if parts[i] = d[i]; d[i] == nil {
			parts[i] = b.expand(b.scalar(0), Expand{1, v.args[i].size(), 1}, v.args[i].shape)
		}
	}
	return b.add(c, v.shape, parts...)
}

func (c Concat) Run(m *Machine, in *Instruction) {
	out := m.At(in.Out)
	row, at := len(out)/c.Outer, 0
	for i, w := range c.Widths {
		x := m.At(in.Args[i].Buffer)
		for o := range c.Outer {
			copy(out[o*row+at:o*row+at+w], x[o*w:(o+1)*w])
		}
		at += w
	}
}

// Slice takes entries Lo, Lo+Step, … (Count of them) along the middle axis of Outer×Size×Inner.
type Slice struct{ Outer, Size, Inner, Lo, Step, Count int }

func (s Slice) String() string { return fmt.Sprintf("slice %d+%d·%d", s.Lo, s.Count, s.Step) }

func (s Slice) tangent(b *builder, v *value, d []*value) *value { return b.add(s, v.shape, d[0]) }

func (s Slice) Run(m *Machine, in *Instruction) {
	out, x := m.At(in.Out), m.At(in.Args[0].Buffer)
	count, n := s.runs()
	for o := range s.Outer {
		for c := range count {
			from := (o*s.Size + s.Lo + c*s.Step) * s.Inner
			copy(out[(o*s.Count+c)*s.Inner:][:n], x[from:from+n])
		}
	}
}

// runs returns how many runs of consecutive entries each slice has, and their length.
func (s Slice) runs() (count, length int) {
	if s.Step == 1 {
		return 1, s.Count * s.Inner
	}
	return s.Count, s.Inner
}

// Unslice puts its argument where Slice took it from and zeros elsewhere: the adjoint of Slice.
type Unslice struct{ Slice }

func (s Unslice) String() string { return "un" + s.Slice.String() }

func (s Unslice) tangent(b *builder, v *value, d []*value) *value { return b.add(s, v.shape, d[0]) }

func (s Unslice) accumulates() {}

func (s Unslice) Run(m *Machine, in *Instruction) {
	out, x := m.At(in.Out), m.At(in.Args[0].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	count, n := s.runs()
	for o := range s.Outer {
		for c := range count {
			to := out[(o*s.Size+s.Lo+c*s.Step)*s.Inner:][:n]
			kernels.Rows.Add(to, to, x[(o*s.Count+c)*s.Inner:][:n])
		}
	}
}
