package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/kernels"
)

// Recurrence is a linear recurrence over the rows of each example, channel by channel: from a and b [Rows×Cols] it
// computes
//
//	h_t = a_t⊙h_{t−1} + b_t,   h = 0 before the first row of an example.
//
// Columns from Forward on run from the last row: h_t = a_t⊙h_{t+1} + b_t. For given a, h is linear in b. With Adjoint,
// the op computes the transposed map instead, from a and ḡ: all columns run the other way, and a factor belongs to the
// step out of its row, ḡ_t = g_t + a_{t+1}⊙ḡ_{t+1}. Rows of padding are zero.
type Recurrence struct {
	Cols, Forward int
	Adjoint       bool
}

func (o Recurrence) String() string {
	name := "linear recurrence"
	if o.Adjoint {
		name = "adjoint recurrence"
	}
	return fmt.Sprintf("%s %d+%d", name, o.Forward, o.Cols-o.Forward)
}

// tangent is ḣ_t = a_t⊙ḣ_{t−1} + (ȧ_t⊙h_{t−1} + ḃ_t): the same recurrence.
func (o Recurrence) tangent(b *builder, v *value, d []*value) *value {
	inner := d[1]
	if d[0] != nil {
		inner = b.sum(b.add(TimesPrevious{o.Cols, o.Forward}, v.shape, d[0], v), inner)
	}
	return b.add(o, v.shape, v.args[0], inner)
}

func (o Recurrence) Run(m *Machine, in *Instruction) {
	out, a, b := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	n := 0
	for k := range len(m.offsets) - 1 {
		lo, hi := m.offsets[k], m.offsets[k+1]
		if o.Forward > 0 {
			o.columns(out, a, b, lo, hi, 0, o.Forward, !o.Adjoint)
		}
		if o.Forward < o.Cols {
			o.columns(out, a, b, lo, hi, o.Forward, o.Cols, o.Adjoint)
		}
		n = hi
	}
	clear(out[n*o.Cols:])
}

// columns runs columns left to right−1 of the example with rows lo to hi−1.
func (o Recurrence) columns(out, a, b []float32, lo, hi, left, right int, forward bool) {
	at, step := lo, 1
	if !forward {
		at, step = hi-1, -1
	}
	for t := range hi - lo {
		l, r := at*o.Cols+left, at*o.Cols+right
		if t == 0 {
			copy(out[l:r], b[l:r])
		} else {
			back := -step * o.Cols // to the row before
			factor := l
			if o.Adjoint {
				factor += back
			}
			kernels.Gates.MulAdd(out[l:r], a[factor:factor+r-l], out[l+back:r+back], b[l:r])
		}
		at += step
	}
}

// TimesPrevious multiplies x [Rows×Cols] by the row of h [Rows×Cols] before it, as a Recurrence does: x_t⊙h_{t−1}, or
// x_t⊙h_{t+1} for columns from Forward on; zero where an example starts, and in padding. It is the derivative of a
// Recurrence in its factors.
type TimesPrevious struct{ Cols, Forward int }

func (o TimesPrevious) String() string {
	return fmt.Sprintf("times previous row %d+%d", o.Forward, o.Cols-o.Forward)
}

func (TimesPrevious) accumulates() {}

func (o TimesPrevious) tangent(b *builder, v *value, d []*value) *value {
	var l, r *value
	if d[0] != nil {
		l = b.add(o, v.shape, d[0], v.args[1])
	}
	if d[1] != nil {
		r = b.add(o, v.shape, v.args[0], d[1])
	}
	return b.sum(l, r)
}

func (o TimesPrevious) Run(m *Machine, in *Instruction) {
	out, x, h := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	c, f := o.Cols, o.Forward
	row := func(at, left, right, back int) {
		l, r := at*c+left, at*c+right
		if in.Accumulate {
			kernels.Gates.MulAdd(out[l:r], x[l:r], h[l+back:r+back], out[l:r])
		} else {
			kernels.Rows.Mul(out[l:r], x[l:r], h[l+back:r+back])
		}
	}
	if !in.Accumulate {
		clear(out[last(m.offsets)*c:])
	}
	for k := range len(m.offsets) - 1 {
		lo, hi := m.offsets[k], m.offsets[k+1]
		if lo == hi {
			continue
		}
		if !in.Accumulate {
			clear(out[lo*c : lo*c+f])
			clear(out[(hi-1)*c+f : hi*c])
		}
		for t := lo; t < hi; t++ {
			if f > 0 && t > lo {
				row(t, 0, f, -c)
			}
			if f < c && t+1 < hi {
				row(t, f, c, c)
			}
		}
	}
}

// LinearRecurrence runs a linear recurrence over the rows of each example: from a and b [Rows×C] it computes
//
//	h_t = a_t⊙h_{t−1} + b_t,   h = 0 before the first row of an example,
//
// or, with reverse, h_t = a_t⊙h_{t+1} + b_t from the last row. It is the recurrent layer of networks whose gates a do
// not depend on the state, such as SRU (Lei et al. 2018) and minGRU (Feng et al. 2024).
func (g *Graph) LinearRecurrence(a, b *gorgonia.Node, reverse bool) (*gorgonia.Node, error) {
	forward := -1
	if reverse {
		forward = 0
	}
	return g.recurrence(a, b, forward)
}

// BidirectionalRecurrence is LinearRecurrence for both directions at once: the first half of the columns runs from the
// first row, the second half from the last.
func (g *Graph) BidirectionalRecurrence(a, b *gorgonia.Node) (*gorgonia.Node, error) {
	if s := a.Shape(); len(s) != 2 || s[1]%2 != 0 {
		return nil, fmt.Errorf("nets: BidirectionalRecurrence of %v: expected an even number of columns", s)
	}
	return g.recurrence(a, b, a.Shape()[1]/2)
}

// recurrence runs the first columns, all for a negative number, forward and the others in reverse.
func (g *Graph) recurrence(a, b *gorgonia.Node, forward int) (*gorgonia.Node, error) {
	s, sb := a.Shape(), b.Shape()
	if len(s) != 2 || s[0] != g.Rows || !s.Eq(sb) {
		return nil, fmt.Errorf("nets: a linear recurrence of %v and %v: expected two [%d×C]", s, sb, g.Rows)
	}
	if forward < 0 {
		forward = s[1]
	}
	o := Recurrence{Cols: s[1], Forward: forward}
	op := g.recurrent(o)
	// da = ḡ⊙(the row of h before), db = ḡ
	op.pull = func(inputs gorgonia.Nodes, h, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		adjoint := o
		adjoint.Adjoint = true
		db, err := g.recurrent(adjoint).apply(inputs[0], grad)
		if err != nil {
			return nil, err
		}
		times := TimesPrevious{o.Cols, o.Forward}
		back := &fusedOp{name: times.String(), out: s.Clone(),
			eval: func(args [][]float64, out []float64) {
				g.eachStep(o, func(at, before int) {
					if before >= 0 {
						out[at] = args[0][at] * args[1][before]
					}
				})
			},
			lowered: func(b *builder, args []*value) *value { return b.add(times, s, args...) },
		}
		da, err := back.apply(db, h)
		return gorgonia.Nodes{da, db}, err
	}
	return op.apply(a, b)
}

// recurrent is the Gorgonia op of a recurrence, without its derivative.
func (g *Graph) recurrent(o Recurrence) *fusedOp {
	shape := []int{g.Rows, o.Cols}
	return &fusedOp{name: o.String(), out: shape,
		eval: func(args [][]float64, out []float64) {
			g.eachStep(o, func(at, before int) {
				out[at] = args[1][at]
				if before < 0 {
					return
				}
				factor := args[0][at]
				if o.Adjoint {
					factor = args[0][before]
				}
				out[at] += factor * out[before]
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(o, shape, args...) },
	}
}

// eachStep visits the entries of all examples in the order of a recurrence, for Gorgonia's machines, with the entry
// before each; −1 if there is none.
func (g *Graph) eachStep(o Recurrence, visit func(at, before int)) {
	offsets := g.offsets
	for k := range len(offsets) - 1 {
		for c := range o.Cols {
			for i := range offsets[k+1] - offsets[k] {
				t, before := offsets[k]+i, -o.Cols
				if (c < o.Forward) == o.Adjoint {
					t, before = offsets[k+1]-1-i, o.Cols
				}
				if at := t*o.Cols + c; i == 0 {
					visit(at, -1)
				} else {
					visit(at, at+before)
				}
			}
		}
	}
}
