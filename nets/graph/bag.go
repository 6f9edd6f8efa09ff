package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
)

// Bag sums rows of a table: row t of the result is Σ_k value_k · table[index_k] over the attributes of position t.
type Bag struct{ Cols int }

func (o Bag) String() string { return fmt.Sprintf("bag of attributes ×%d", o.Cols) }

func (Bag) accumulates() {}

func (o Bag) tangent(b *builder, v *value, d []*value) *value { return b.add(o, v.shape, d[0]) }

func (o Bag) Run(m *Machine, in *Instruction) {
	out, table := m.At(in.Out), m.At(in.Args[0].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	for t, at := range m.sources {
		if index, value := m.attributes.Row(int(at)); len(index) > 0 {
			kernels.Sparse.Gather(out[t*o.Cols:(t+1)*o.Cols], table, index, value)
		}
	}
}

// BagScatter adds each row of its argument, times the values of the position's attributes, to their rows: the adjoint of Bag.
type BagScatter struct{ Cols int }

func (o BagScatter) String() string { return fmt.Sprintf("bag of attributes, pull ×%d", o.Cols) }

func (BagScatter) accumulates() {}

func (o BagScatter) tangent(b *builder, v *value, d []*value) *value { return b.add(o, v.shape, d[0]) }

func (o BagScatter) Run(m *Machine, in *Instruction) {
	out, g := m.At(in.Out), m.At(in.Args[0].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	for t, at := range m.sources {
		from := g[t*o.Cols : (t+1)*o.Cols]
		if index, value := m.attributes.Row(int(at)); len(index) > 0 && !kernels.Sparse.IsZero(from) {
			kernels.Sparse.Scatter(out, from, 1, index, value)
		}
	}
}

// Bag sums the rows of a table [Attributes×E] over the attributes of each position, times their values, to [Rows×E]. The gradient costs
// time only for the rows of the batch's attributes.
func (g *Graph) Bag(table *gorgonia.Node) (*gorgonia.Node, error) {
	s := table.Shape()
	if g.Input.Attributes == 0 || len(s) != 2 || s[0] != g.Input.Attributes {
		return nil, fmt.Errorf("nets: Bag of a table %v: the input has %d attributes", s, g.Input.Attributes)
	}
	g.needs.Attributes = true
	cols := s[1]
	each := func(f func(t, row int, value float64)) {
		for t := range g.Rows {
			index, value := g.attributes(t)
			for k, a := range index {
				f(t, int(a), float64(kernels.ValueAt(value, k)))
			}
		}
	}
	op := &fusedOp{name: Bag{cols}.String(), out: tensor.Shape{g.Rows, cols},
		eval: func(args [][]float64, out []float64) {
			each(func(t, row int, value float64) {
				for c := range cols {
					out[t*cols+c] += value * args[0][row*cols+c]
				}
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(Bag{cols}, []int{g.Rows, cols}, args[0]) },
	}
	op.pull = func(_ gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		back := &fusedOp{name: BagScatter{cols}.String(), out: s.Clone(),
			eval: func(args [][]float64, out []float64) {
				each(func(t, row int, value float64) {
					for c := range cols {
						out[row*cols+c] += value * args[0][t*cols+c]
					}
				})
			},
			lowered: func(b *builder, args []*value) *value { return b.add(BagScatter{cols}, s, args[0]) },
		}
		n, err := back.apply(grad)
		return gorgonia.Nodes{n}, err
	}
	return op.apply(table)
}

// loadAttributes notes where the rows' attributes are, and refuses attributes that the network does not know.
func (m *Machine) loadAttributes(batch *structured.Batch, known int) error {
	data := batch.Data
	x := data.Attributes
	if x == nil {
		return structured.BadInput("%s has no attributes of positions, which the network reads", data.Name)
	}
	m.attributes, m.sources = x, m.sources[:0]
	for _, e := range batch.Examples {
		lo, hi := data.Offsets[e], data.Offsets[e+1]
		for _, a := range x.Index[x.Offsets[lo]:x.Offsets[hi]] {
			if uint(a) >= uint(known) {
				return structured.BadInput("%s: attribute number %d; the network knows 0 to %d", data.Where(e), a, known-1)
			}
		}
		for t := lo; t < hi; t++ {
			m.sources = append(m.sources, int32(t))
		}
	}
	return nil
}
