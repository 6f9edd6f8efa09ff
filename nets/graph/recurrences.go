package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
)

// LinearRecurrence runs a linear recurrence over the rows of each example: from a and b [Rows×C] it computes
//
//	h_t = a_t⊙h_{t−1} + b_t,   h = 0 before the first row of an example,
//
// or, with reverse, h_t = a_t⊙h_{t+1} + b_t from the last row. It is the recurrent layer of networks whose gates a do not depend on the
// state, such as SRU (Lei et al. 2018) and minGRU (Feng et al. 2024).
func (g *Graph) LinearRecurrence(a, b *gorgonia.Node, reverse bool) (*gorgonia.Node, error) {
	forward := -1
	if reverse {
		forward = 0
	}
	return g.recurrence(a, b, forward)
}

// BidirectionalRecurrence is LinearRecurrence for both directions at once: the first half of the columns runs from the first row, the second
// half from the last.
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
	op.pull = func(inputs gorgonia.Nodes, h, grad *gorgonia.Node) (gorgonia.Nodes, error) { // da = ḡ⊙(the row of h before), db = ḡ
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

// eachStep visits the entries of all examples in the order of a recurrence, for Gorgonia's machines, with the entry before each; −1 if
// there is none.
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
