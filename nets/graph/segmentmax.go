package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// SegmentMax is the largest of the characters' rows of each position, column by column: row t of the result is the
// maximum over rows starts[t] to starts[t+1]-1 of its argument, and zero where there are none.
type SegmentMax struct{ Cols int }

func (o SegmentMax) String() string { return fmt.Sprintf("maximum over characters ×%d", o.Cols) }

func (o SegmentMax) tangent(b *builder, v *value, d []*value) *value {
	return b.add(SegmentMaxPush(o), v.shape, v.args[0], v, d[0])
}

func (o SegmentMax) Run(m *Machine, in *Instruction) {
	out, x, c := m.At(in.Out), m.At(in.Args[0].Buffer), o.Cols
	m.eachSegment(func(t, lo, hi int) {
		to := out[t*c : (t+1)*c]
		if lo == hi {
			clear(to)
			return
		}
		copy(to, x[lo*c:])
		for r := lo + 1; r < hi; r++ {
			kernels.Rows.Max(to, to, x[r*c:])
		}
	})
}

// SegmentMaxPush picks the tangent of the first row that attains each maximum. Its arguments are x, the maxima y and ẋ.
type SegmentMaxPush struct{ Cols int }

func (o SegmentMaxPush) String() string { return "maximum over characters, push" }

func (o SegmentMaxPush) tangent(*builder, *value, []*value) *value { return nil }

func (o SegmentMaxPush) Run(m *Machine, in *Instruction) {
	out, x, y, dx := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer), m.At(in.Args[2].Buffer)
	c := o.Cols
	m.eachSegment(func(t, lo, hi int) {
		to, top := out[t*c:(t+1)*c], y[t*c:(t+1)*c]
		clear(to)
		for r := hi - 1; r >= lo; r-- { // the first row that attains the maximum comes last
			kernels.Rows.Pick(to, x[r*c:], top, dx[r*c:])
		}
	})
}

// SegmentMaxPull sends each cotangent to the first row that attains the maximum. Its arguments are x, the maxima y and
// g.
type SegmentMaxPull struct{ Cols int }

func (o SegmentMaxPull) String() string { return "maximum over characters, pull" }

func (o SegmentMaxPull) tangent(*builder, *value, []*value) *value { return nil }

func (o SegmentMaxPull) Run(m *Machine, in *Instruction) {
	out, x, y, g := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer), m.At(in.Args[2].Buffer)
	c, end := o.Cols, 0
	m.left = vec.Grow(m.left, c)
	m.eachSegment(func(t, lo, hi int) {
		copy(m.left, g[t*c:(t+1)*c]) // what no row has taken yet
		top := y[t*c : (t+1)*c]
		for r := lo; r < hi; r++ {
			kernels.Rows.Take(out[r*c:(r+1)*c], m.left, x[r*c:], top)
		}
		end = hi
	})
	clear(out[end*c:])
}

// eachSegment calls f for every position, padding included, with the range of its characters' rows.
func (m *Machine) eachSegment(f func(t, lo, hi int)) {
	for t := range len(m.starts) - 1 {
		f(t, int(m.starts[t]), int(m.starts[t+1]))
	}
}

// SegmentMax takes the largest of the rows of each position's characters, column by column: x [Chars×C] becomes
// [Rows×C]. Positions without characters get zeros. The gradient goes to the first row that attains the maximum.
func (g *Graph) SegmentMax(x *gorgonia.Node) (*gorgonia.Node, error) {
	s := x.Shape()
	if len(s) != 2 || s[0] != g.Chars {
		return nil, fmt.Errorf("nets: SegmentMax of %v: expected one row for each of %d characters", s, g.Chars)
	}
	g.needs.Characters = true
	cols := s[1]
	each := func(f func(t, lo, hi, c int)) {
		starts := g.starts()
		for t := range g.Rows {
			for c := range cols {
				f(t, int(starts[t]), int(starts[t+1]), c)
			}
		}
	}
	op := &fusedOp{name: SegmentMax{cols}.String(), out: tensor.Shape{g.Rows, cols},
		eval: func(args [][]float64, out []float64) {
			each(func(t, lo, hi, c int) {
				for r := lo; r < hi; r++ {
					if x := args[0][r*cols+c]; r == lo || x > out[t*cols+c] {
						out[t*cols+c] = x
					}
				}
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(SegmentMax{cols}, []int{g.Rows, cols}, args[0]) },
	}
	op.pull = func(in gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		back := &fusedOp{name: SegmentMaxPull{cols}.String(), out: s.Clone(),
			eval: func(args [][]float64, out []float64) {
				each(func(t, lo, hi, c int) {
					for r := lo; r < hi; r++ {
						if args[0][r*cols+c] == args[1][t*cols+c] {
							out[r*cols+c] = args[2][t*cols+c]
							return
						}
					}
				})
			},
			lowered: func(b *builder, args []*value) *value { return b.add(SegmentMaxPull{cols}, s, args...) },
		}
		n, err := back.apply(in[0], output, grad)
		return gorgonia.Nodes{n}, err
	}
	return op.apply(x)
}
