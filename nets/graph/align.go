package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Align scores each pair of a source and a target item of the same example with K bilinear forms of E terms. From x
// [Rows×K·E] and z [Rows×E] it computes, for an example whose first position is p and that has n sources,
//
//	out[(i,j), k] = Σ_e x[p+i, k·E+e]·z[p+n+j, e].
//
// The rows of x of target items and those of z of source items are not read. Padding is zero.
type Align struct{ K, E int }

func (o Align) String() string {
	return fmt.Sprintf("bilinear %d×%d of sources and targets", o.K, o.E)
}

func (Align) accumulates() {}

func (o Align) tangent(b *builder, v *value, d []*value) *value {
	var l, r *value
	if d[0] != nil {
		l = b.add(o, v.shape, d[0], v.args[1])
	}
	if d[1] != nil {
		r = b.add(o, v.shape, v.args[0], d[1])
	}
	return b.sum(l, r)
}

func (o Align) Run(m *Machine, in *Instruction) {
	out, x, z := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	k, e, beta := o.K, o.E, float32(0)
	if in.Accumulate {
		beta = 1
	} else {
		clear(out[pairs(m.offsets, m.splits)*k:])
	}
	for s := range m.eachSplit() {
		x, z, out := x[s.lo*k*e:s.mid*k*e], z[s.mid*e:s.hi*e], out[s.row*k:]
		if k == 1 {
			m.BLAS.Sgemm(false, true, s.n(), s.m(), e, x, z, beta, out[:s.n()*s.m()])
			continue
		}
		for i := range s.n() {
			m.BLAS.Sgemm(false, true, s.m(), k, e, z, x[i*k*e:(i+1)*k*e], beta, out[i*s.m()*k:(i+1)*s.m()*k])
		}
	}
}

// AlignSources is the pullback of Align to x. Its arguments are g [Pairs×K] and z.
type AlignSources struct{ Align }

func (o AlignSources) String() string { return o.Align.String() + ", to sources" }

func (o AlignSources) tangent(*builder, *value, []*value) *value { return nil }

func (o AlignSources) Run(m *Machine, in *Instruction) {
	out, g, z := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	k, e := o.K, o.E
	for s := range m.eachSplit() {
		g, z, out := g[s.row*k:], z[s.mid*e:s.hi*e], out[s.lo*k*e:s.mid*k*e]
		if k == 1 {
			m.BLAS.Sgemm(false, false, s.n(), e, s.m(), g[:s.n()*s.m()], z, 1, out)
			continue
		}
		for i := range s.n() {
			m.BLAS.Sgemm(true, false, k, e, s.m(), g[i*s.m()*k:(i+1)*s.m()*k], z, 1, out[i*k*e:(i+1)*k*e])
		}
	}
}

// AlignTargets is the pullback of Align to z. Its arguments are g [Pairs×K] and x.
type AlignTargets struct{ Align }

func (o AlignTargets) String() string { return o.Align.String() + ", to targets" }

func (o AlignTargets) tangent(*builder, *value, []*value) *value { return nil }

func (o AlignTargets) Run(m *Machine, in *Instruction) {
	out, g, x := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	k, e := o.K, o.E
	for s := range m.eachSplit() {
		g, x, out := g[s.row*k:], x[s.lo*k*e:s.mid*k*e], out[s.mid*e:s.hi*e]
		if k == 1 {
			m.BLAS.Sgemm(true, false, s.m(), e, s.n(), g[:s.n()*s.m()], x, 1, out)
			continue
		}
		for i := range s.n() {
			m.BLAS.Sgemm(false, false, s.m(), e, k, g[i*s.m()*k:(i+1)*s.m()*k], x[i*k*e:(i+1)*k*e], 1, out)
		}
	}
}

// Examples that relate two sequences: n source items, then m target items, and n·m pairs.

// allPairs refuses an op on pairs of all positions where pairs are others.
func (g *Graph) allPairs(op string) error {
	switch {
	case g.needs.Split:
		return fmt.Errorf("nets: %s pairs each position with each; a network that scores pairs of source and "+
			"target items uses Align", op)
	case g.needs.Edges:
		return fmt.Errorf("nets: %s pairs each position with each; a network that scores edges of a graph uses Ends", op)
	}
	return nil
}

// Sources selects the source items: row r of the result [Rows×C] is the row of x [Rows×C] of the r-th source item of
// the batch. The rows after the last source item are zero. It is for potentials with a row for each source item.
func (g *Graph) Sources(x *gorgonia.Node) (*gorgonia.Node, error) {
	s := x.Shape()
	if !g.needs.Split || len(s) != 2 || s[0] != g.Rows {
		return nil, fmt.Errorf("nets: Sources of %v: expected one row for each of %d positions, and potentials with a "+
			"part of table %q or %q",
			s, g.Rows, structured.Sources, structured.Pairs)
	}
	g.needs.Sources = true
	return g.gather(x, Index{Kind: IndexSources}, g.Rows, s[1])
}

// Align scores each pair of a source and a target item with K bilinear forms, as the op of that name says: x [Rows×K·E]
// belongs to sources, z [Rows×E] to targets. The result is [Pairs×K].
func (g *Graph) Align(x, z *gorgonia.Node) (*gorgonia.Node, error) {
	sx, sz := x.Shape(), z.Shape()
	if !g.needs.Split || len(sx) != 2 || len(sz) != 2 || sx[0] != g.Rows || sz[0] != g.Rows || sx[1]%sz[1] != 0 {
		return nil, fmt.Errorf("nets: Align of %v and %v: expected [%d×K·E] and [%d×E], and potentials with a "+
			"part of table %q or %q",
			sx, sz, g.Rows, g.Rows, structured.Sources, structured.Pairs)
	}
	o := Align{sx[1] / sz[1], sz[1]}
	op := &fusedOp{name: o.String(), out: tensor.Shape{g.Pairs, o.K},
		eval: func(args [][]float64, out []float64) {
			g.eachAligned(o, func(at, x, z int) { out[at] += args[0][x] * args[1][z] })
		},
		lowered: func(b *builder, args []*value) *value { return b.add(o, []int{g.Pairs, o.K}, args...) },
	}
	op.pull = func(in gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		toX := &fusedOp{name: AlignSources{o}.String(), out: sx.Clone(),
			eval: func(args [][]float64, out []float64) {
				g.eachAligned(o, func(at, x, z int) { out[x] += args[0][at] * args[1][z] })
			},
			lowered: func(b *builder, args []*value) *value { return b.add(AlignSources{o}, sx, args...) },
		}
		toZ := &fusedOp{name: AlignTargets{o}.String(), out: sz.Clone(),
			eval: func(args [][]float64, out []float64) {
				g.eachAligned(o, func(at, x, z int) { out[z] += args[0][at] * args[1][x] })
			},
			lowered: func(b *builder, args []*value) *value { return b.add(AlignTargets{o}, sz, args...) },
		}
		dx, err := toX.apply(grad, in[1])
		if err != nil {
			return nil, err
		}
		dz, err := toZ.apply(grad, in[0])
		return gorgonia.Nodes{dx, dz}, err
	}
	n, err := op.apply(x, z)
	return g.madePairs(n), err
}

// eachAligned visits the terms of every bilinear form, for Gorgonia's machines: the entries of the result, of x and of
// z.
func (g *Graph) eachAligned(o Align, visit func(at, x, z int)) {
	for s := range eachSplit(g.offsets, g.splits) {
		for i := range s.n() {
			for j := range s.m() {
				for k := range o.K {
					for e := range o.E {
						visit((s.row+i*s.m()+j)*o.K+k, ((s.lo+i)*o.K+k)*o.E+e, (s.mid+j)*o.E+e)
					}
				}
			}
		}
	}
}

// split is an example of a batch: its source items are positions lo to mid−1, its target items positions mid to hi−1,
// and its pairs begin at row.
type split struct{ row, lo, mid, hi int }

func (s split) n() int { return s.mid - s.lo }
func (s split) m() int { return s.hi - s.mid }

// eachSplit iterates over the examples that have pairs.
func (m *Machine) eachSplit() func(yield func(s split) bool) { return eachSplit(m.offsets, m.splits) }

func eachSplit(offsets, splits []int) func(yield func(s split) bool) {
	return func(yield func(s split) bool) {
		row := 0
		for b, n := range splits {
			s := split{row, offsets[b], offsets[b] + n, offsets[b+1]}
			if s.n() > 0 && s.m() > 0 && !yield(s) {
				return
			}
			row += s.n() * s.m()
		}
	}
}

// sequences iterates over the ranges of positions whose neighbours are related: examples, or their source and their
// target items.
func (m *Machine) sequences() func(yield func(lo, hi int) bool) {
	return func(yield func(lo, hi int) bool) {
		for b := range len(m.offsets) - 1 {
			lo, hi := m.offsets[b], m.offsets[b+1]
			if len(m.splits) > 0 {
				mid := lo + m.splits[b]
				if !yield(lo, mid) {
					return
				}
				lo = mid
			}
			if !yield(lo, hi) {
				return
			}
		}
	}
}

// splitsOf returns the number of source items of each example of a batch whose data has the table of sources.
func splitsOf(to []int, batch *structured.Batch) []int {
	at := batch.Rows(structured.Sources)
	to = to[:0]
	for b := range batch.Len() {
		to = append(to, at[b+1]-at[b])
	}
	return to
}

// sourceRows lists the positions of the source items, and −1 in padding.
func sourceRows(to []int32, offsets, splits []int, rows int) []int32 {
	to = vec.Grow(to, rows)
	at := 0
	for b, n := range splits {
		for t := offsets[b]; t < offsets[b]+n; t++ {
			to[at] = int32(t)
			at++
		}
	}
	for ; at < rows; at++ {
		to[at] = -1
	}
	return to
}
