package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
)

// Bag sums rows of a table: row t of the result is Σ_k value_k · table[index_k] over the attributes of position t, or
// of pair t.
type Bag struct {
	Cols  int
	Pairs bool // rows are pairs of source and target items
}

func (o Bag) String() string { return fmt.Sprintf("bag of %s ×%d", o.what(), o.Cols) }

// what says what is summed.
func (o Bag) what() string {
	if o.Pairs {
		return "attributes of pairs"
	}
	return "attributes"
}

func (Bag) accumulates() {}

func (o Bag) tangent(b *builder, v *value, d []*value) *value { return b.add(o, v.shape, d[0]) }

func (o Bag) Run(m *Machine, in *Instruction) {
	out, table := m.At(in.Out), m.At(in.Args[0].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	rows := m.bag(o.Pairs)
	for t, at := range rows.sources {
		if index, value := rows.attributes.Row(int(at)); len(index) > 0 {
			kernels.Sparse.Gather(out[t*o.Cols:(t+1)*o.Cols], table, index, value)
		}
	}
}

// BagScatter adds each row of its argument, times the values of the position's attributes, to their rows: the adjoint
// of Bag.
type BagScatter struct{ Bag }

func (o BagScatter) String() string { return fmt.Sprintf("bag of %s, pull ×%d", o.what(), o.Cols) }

func (BagScatter) accumulates() {}

func (o BagScatter) tangent(b *builder, v *value, d []*value) *value { return b.add(o, v.shape, d[0]) }

func (o BagScatter) Run(m *Machine, in *Instruction) {
	out, g := m.At(in.Out), m.At(in.Args[0].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	rows := m.bag(o.Pairs)
	for t, at := range rows.sources {
		from := g[t*o.Cols : (t+1)*o.Cols]
		if index, value := rows.attributes.Row(int(at)); len(index) > 0 && !kernels.Sparse.IsZero(from) {
			kernels.Sparse.Scatter(out, from, 1, index, value)
		}
	}
}

// Bag sums the rows of a table [Attributes×E] over the attributes of each position, times their values, to [Rows×E].
// The gradient costs time only for the rows of the batch's attributes.
func (g *Graph) Bag(table *gorgonia.Node) (*gorgonia.Node, error) {
	if s := table.Shape(); g.Input.Attributes == 0 || len(s) != 2 || s[0] != g.Input.Attributes {
		return nil, fmt.Errorf("nets: Bag of a table %v: the input has %d attributes", s, g.Input.Attributes)
	}
	g.needs.Attributes = true
	return g.bag(table, g.Rows, false)
}

// PairBag sums the rows of a table [PairAttributes×E] over the attributes of each pair of a source and a target item,
// times their values, to [Pairs×E]: with dense features as attributes 0 to PairAttributes−1, it is their product with
// the table.
func (g *Graph) PairBag(table *gorgonia.Node) (*gorgonia.Node, error) {
	if s := table.Shape(); !g.needs.Split || g.Input.PairAttributes == 0 || len(s) != 2 || s[0] != g.Input.PairAttributes {
		return nil, fmt.Errorf("nets: PairBag of a table %v: pairs of source and target items have %d attributes",
			s, g.Input.PairAttributes)
	}
	g.needs.PairAttributes = true
	n, err := g.bag(table, g.Pairs, true)
	return g.madePairs(n), err
}

func (g *Graph) bag(table *gorgonia.Node, rows int, pairs bool) (*gorgonia.Node, error) {
	s := table.Shape()
	cols := s[1]
	o := Bag{cols, pairs}
	each := func(f func(t, row int, value float64)) {
		for t := range rows {
			index, value := g.attributes(t, pairs)
			for k, a := range index {
				f(t, int(a), float64(kernels.ValueAt(value, k)))
			}
		}
	}
	op := &fusedOp{name: o.String(), out: tensor.Shape{rows, cols},
		eval: func(args [][]float64, out []float64) {
			each(func(t, row int, value float64) {
				for c := range cols {
					out[t*cols+c] += value * args[0][row*cols+c]
				}
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(o, []int{rows, cols}, args[0]) },
	}
	op.pull = func(_ gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		back := &fusedOp{name: BagScatter{o}.String(), out: s.Clone(),
			eval: func(args [][]float64, out []float64) {
				each(func(t, row int, value float64) {
					for c := range cols {
						out[row*cols+c] += value * args[0][t*cols+c]
					}
				})
			},
			lowered: func(b *builder, args []*value) *value { return b.add(BagScatter{o}, s, args[0]) },
		}
		n, err := back.apply(grad)
		return gorgonia.Nodes{n}, err
	}
	return op.apply(table)
}

// bagRows is where the attributes of the rows of a batch are: row t has those of row sources[t] of the data.
type bagRows struct {
	attributes *structured.Sparse
	sources    []int32
}

// bag returns where the attributes of positions or of pairs are.
func (m *Machine) bag(pairs bool) *bagRows {
	if pairs {
		return &m.ofPairs
	}
	return &m.ofPositions
}

// load notes where the attributes are of the examples' rows, of which example e has rows offsets[e] to offsets[e+1]-1,
// and refuses attributes that the network does not know.
func (r *bagRows) load(batch *structured.Batch, x *structured.Sparse, offsets []int, known int, of string) error {
	data := batch.Data
	if x == nil {
		return structured.BadInput("%s has no attributes of %s, which the network reads", data.Name, of)
	}
	r.attributes, r.sources = x, r.sources[:0]
	for _, e := range batch.Examples {
		lo, hi := offsets[e], offsets[e+1]
		for _, a := range x.Index[x.Offsets[lo]:x.Offsets[hi]] {
			if uint(a) >= uint(known) {
				return structured.BadInput("%s: attribute number %d of %s; the network knows 0 to %d",
					data.Where(e), a, of, known-1)
			}
		}
		for t := lo; t < hi; t++ {
			r.sources = append(r.sources, int32(t))
		}
	}
	return nil
}

// loadAttributes notes where the attributes of a batch are that the program reads.
func (m *Machine) loadAttributes(p *Program, in Input, batch *structured.Batch) error {
	data := batch.Data
	if p.Needs.Attributes {
		if err := m.ofPositions.load(batch, data.Attributes, data.Offsets, in.Attributes, "positions"); err != nil {
			return err
		}
	}
	if p.Needs.PairAttributes {
		table := data.Table(structured.Pairs)
		if table == nil {
			return structured.BadInput("%s has no table of rows %q, whose attributes the network reads",
				data.Name, structured.Pairs)
		}
		return m.ofPairs.load(batch, table.Attributes, table.Offsets, in.PairAttributes, "pairs")
	}
	return nil
}

// PairAttributes returns the attributes of pair r of the loaded batch and their values (nil: ones).
func (m *Machine) PairAttributes(r int) (index []int32, value []float32) {
	return m.ofPairs.attributes.Row(int(m.ofPairs.sources[r]))
}
