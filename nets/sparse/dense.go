package sparse

import (
	"fmt"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Dense configures weights D of a part that multiply dense inputs z_t of positions (Dataset.ReadFeatures): a row of the
// potentials gets the product z_t D of a position of its own.
type Dense struct {
	Weights string // name of D
	Dim     int    // numbers in z_t
	Of      Of
}

// Of says which position a row of potentials takes the product from, and which columns of it.
type Of int

const (
	// OfPosition is for parts with a row per position: D is [Dim×Width].
	OfPosition Of = iota
	// OfDependent and OfHead are for parts with a row per pair of words (package trees). D is
	// [Dim×graph.Distances×Width], and a row takes the columns for the class of its distance from dependent to head.
	// Rows of the root have no head.
	OfDependent
	OfHead
	// OfSource and OfTarget are for parts with a row per pair of items, OfSource also for those with a row per source
	// item (package matchings). D is [Dim×Width].
	OfSource
	OfTarget
)

// block is the place of the weights of a Dense in w.
type block struct {
	of       Of
	offset   int // of D
	dim      int
	lo, hi   int // columns of z that this scorer multiplies (DenseShare)
	width    int // columns of D
	firstRow int32
}

// columns returns the columns of D of a part.
func (d Dense) columns(width int) int {
	if d.Of == OfDependent || d.Of == OfHead {
		return graph.Distances * width
	}
	return width
}

// shape returns the shape of D in Layout, given that of a row of potentials.
func (d Dense) shape(row []int) []int {
	shape := []int{d.Dim}
	if d.Of == OfDependent || d.Of == OfHead {
		shape = append(shape, graph.Distances)
	}
	return append(shape, row...)
}

var _ nets.DenseScorer = (*Linear)(nil)

func (s *Linear) DenseBlocks() []nets.DenseBlock {
	var all []nets.DenseBlock
	for k, p := range s.parts {
		for _, b := range p.dense {
			bias := -1
			if b.of == OfPosition {
				bias = p.bias
			}
			all = append(all, nets.DenseBlock{Part: k, Offset: b.offset, Dim: b.dim, Width: b.width, Bias: bias, Ends: -1})
		}
	}
	return all
}

// TiedBlocks implements nets.TiedScorer.
func (s *Linear) TiedBlocks() []nets.TiedBlock {
	var all []nets.TiedBlock
	for k, p := range s.parts {
		if p.Rows == structured.Tied && p.bias >= 0 && p.attributes == 0 && len(p.dense) == 0 {
			all = append(all, nets.TiedBlock{Part: k, Offset: p.bias, Width: p.Width})
		}
	}
	return all
}

// HasDense reports whether the scorer reads dense inputs.
func (s *Linear) HasDense() bool { return s.dim > 0 }

// Unshrunk lists the ranges w[lo:hi] that λ₁‖w‖₁ leaves alone, in order (nets.Unshrunk): beside dense inputs it is for
// weights of attributes.
func (s *Linear) Unshrunk() [][2]int {
	var all [][2]int
	for _, p := range s.parts {
		if p.free {
			all = append(all, [2]int{p.bias, p.bias + p.Width})
		}
		for _, b := range p.dense {
			all = append(all, [2]int{b.offset, b.offset + b.dim*b.width})
		}
	}
	return all
}

// denseRows are the dense inputs of the positions of a batch, one row per position.
type denseRows struct {
	z    [][]float32
	read []float32 // memory for those that are not in memory
}

// load reads the dense inputs of the batch's positions, dim numbers each.
func (x *denseRows) load(batch *structured.Batch, dim int) error {
	d := batch.Data
	if d.Dim != dim || !d.HasFeatures() {
		return structured.BadInput("%s: %d dense inputs per position, the network reads %d", d.Name, d.Dim, dim)
	}
	x.z = x.z[:0]
	if d.Features == nil {
		x.read = vec.Grow(x.read, batch.Positions()*dim)
		for b, i := range batch.Examples {
			if err := d.ReadFeatures(x.read[batch.Offsets[b]*dim:batch.Offsets[b+1]*dim], i); err != nil {
				return err
			}
		}
		for t := range batch.Positions() {
			x.z = append(x.z, x.read[t*dim:(t+1)*dim])
		}
		return nil
	}
	for _, i := range batch.Examples {
		for t := d.Offsets[i]; t < d.Offsets[i+1]; t++ {
			x.z = append(x.z, d.Features[t*dim:(t+1)*dim])
		}
	}
	return nil
}

// cut sets to to the columns lo to hi-1 of rows of z.
func cut(to, z [][]float32, lo, hi int) [][]float32 {
	to = to[:0]
	for _, row := range z {
		to = append(to, row[lo:hi])
	}
	return to
}

// eachRow calls do for the rows of a part that take products from positions: row and position are numbered in the
// batch, and column is the first of the product that the row takes.
func (b *block) eachRow(p *part, offsets []int, batch *structured.Batch, do func(row, position, column int)) {
	var sources []int
	if b.of == OfSource || b.of == OfTarget {
		sources = batch.Rows(structured.Sources)
	}
	for e := range batch.Len() {
		row, first := offsets[e], batch.Offsets[e]
		n := batch.Offsets[e+1] - first
		switch {
		case b.of == OfDependent || b.of == OfHead:
			for d := range n {
				for h := range n {
					if column := graph.DistanceClass(h-d) * p.Width; b.of == OfDependent {
						do(row, first+d, column)
					} else if h != d {
						do(row, first+h, column)
					}
					row++
				}
			}
		case p.Rows == structured.Sources:
			for i := range sources[e+1] - sources[e] {
				do(row+i, first+i, 0)
			}
		default:
			from := sources[e+1] - sources[e]
			for i := range from {
				for j := range n - from {
					if b.of == OfSource {
						do(row, first+i, 0)
					} else {
						do(row, first+from+j, 0)
					}
					row++
				}
			}
		}
	}
}

// matrix is a matrix with rows of equal length in one slice.
type matrix[E float32 | float64] struct {
	values []E
	rows   [][]E
}

// shape gives the matrix a shape. Its values are undefined.
func (m *matrix[E]) shape(rows, columns int) {
	m.values, m.rows = vec.Grow(m.values, rows*columns), m.rows[:0]
	for r := range rows {
		m.rows = append(m.rows, m.values[r*columns:(r+1)*columns])
	}
}

// view makes m the matrix with these values.
func (m *matrix[E]) view(values []E, columns int) {
	m.rows = m.rows[:0]
	for r := range len(values) / columns {
		m.rows = append(m.rows, values[r*columns:(r+1)*columns])
	}
}

// scoring is scratch memory for scores of dense inputs.
type scoring[E float32 | float64] struct {
	inputs  denseRows
	z       [][]float32
	product matrix[E]
}

// add adds the products of a part's dense inputs, which are loaded, to the part's potentials θ [rows×Width].
func (x *scoring[E]) add(p *part, w []float32, batch *structured.Batch, offsets []int, θ []E, score func(to [][]E, z [][]float32, w []float32)) {
	for k := range p.dense {
		b := &p.dense[k]
		d := w[b.offset+b.lo*b.width : b.offset+b.hi*b.width]
		x.z = cut(x.z, x.inputs.z, b.lo, b.hi)
		if b.of == OfPosition {
			x.product.view(θ, p.Width)
			score(x.product.rows, x.z, d)
			continue
		}
		x.product.shape(len(x.z), b.width)
		clear(x.product.values)
		score(x.product.rows, x.z, d)
		b.eachRow(p, offsets, batch, func(row, position, column int) {
			to := θ[row*p.Width:][:p.Width]
			for j, s := range x.product.rows[position][column:][:p.Width] {
				to[j] += s
			}
		})
	}
}

// pulling is scratch memory for products of dense inputs and marginals.
type pulling[E float32 | float64] struct {
	inputs denseRows
	z      [][]float32
	v      [][]E
	sums   matrix[E]
	delta  []E // of the weights
}

// pull adds to x.delta the products of columns lo to hi-1 of the dense inputs, which are loaded, and the marginals v
// [rows×Width] of a part that belong to block b. It reports whether any marginal differs from zero; if none does,
// x.delta is undefined.
func (x *pulling[E]) pull(p *part, b *block, batch *structured.Batch, offsets []int, v []E, lo, hi int, pull func(to []E, z [][]float32, v [][]E)) bool {
	if b.of == OfPosition {
		x.sums.view(v, p.Width)
	} else {
		x.sums.shape(len(x.inputs.z), b.width)
		clear(x.sums.values)
		b.eachRow(p, offsets, batch, func(row, position, column int) {
			to := x.sums.rows[position][column:][:p.Width]
			for j, s := range v[row*p.Width:][:p.Width] {
				to[j] += s
			}
		})
	}
	x.z, x.v = x.z[:0], x.v[:0]
	for t, row := range x.sums.rows {
		if !isZero(row) {
			x.z, x.v = append(x.z, x.inputs.z[t][lo:hi]), append(x.v, row)
		}
	}
	if len(x.v) == 0 {
		return false
	}
	x.delta = vec.Grow(x.delta, (hi-lo)*b.width)
	clear(x.delta)
	pull(x.delta, x.z, x.v)
	return true
}

func isZero[E float32 | float64](x []E) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// columnsOf returns the columns of z whose weights belong to stripes lo to hi-1.
func (b *block) columnsOf(lo, hi int) (from, to int) {
	n := b.hi - b.lo
	return b.lo + n*lo/Stripes, b.lo + n*hi/Stripes
}

// scatterDense adds the pullback of the dense inputs of a batch. Weights of dense inputs have no threshold.
func (s *Linear) scatterDense(f *scatterer, v *structured.Marginals, batch *structured.Batch, to []float32) {
	x := &f.single
	x.mustLoad(s, batch)
	for k := range s.parts {
		p := &s.parts[k]
		for i := range p.dense {
			b := &p.dense[i]
			from, end := b.columnsOf(f.lo, f.hi)
			if !x.pull(p, b, batch, v.Parts[k].Offsets, v.Parts[k].Values, from, end, kernels.Dense.Pull) {
				continue
			}
			w := to[b.offset+from*b.width : b.offset+end*b.width]
			if f.norms == nil {
				if len(w) > 0 {
					kernels.Sparse.Scatter(w, x.delta, f.c, []int32{0}, nil)
				}
				continue
			}
			for stripe := f.lo; stripe < f.hi; stripe++ {
				lo, hi := b.columnsOf(stripe, stripe+1)
				lo, hi = (lo-from)*b.width, (hi-from)*b.width
				f.norms[stripe] += kernels.Sparse.MeasureRun(w[lo:hi], x.delta[lo:hi], f.c)
			}
		}
	}
}

// scatterDenseDouble is scatterDense with c = 1 into sums in float64.
func (s *Linear) scatterDenseDouble(f *scatterer, v *structured.Marginals, batch *structured.Batch, to []float64) {
	x := &f.double
	x.mustLoad(s, batch)
	for k := range s.parts {
		p := &s.parts[k]
		if len(p.dense) == 0 {
			continue
		}
		f.wide = vec.Grow(f.wide, len(v.Parts[k].Values))
		for j, m := range v.Parts[k].Values {
			f.wide[j] = float64(m)
		}
		for i := range p.dense {
			b := &p.dense[i]
			from, end := b.columnsOf(f.lo, f.hi)
			if !x.pull(p, b, batch, v.Parts[k].Offsets, f.wide, from, end, kernels.Dense.PullDouble) {
				continue
			}
			w := to[b.offset+from*b.width:][:len(x.delta)]
			for j, g := range x.delta {
				w[j] += g
			}
		}
	}
}

// mustLoad loads the dense inputs of a batch that has been scored.
func (x *pulling[E]) mustLoad(s *Linear, batch *structured.Batch) {
	if err := x.inputs.load(batch, s.dim); err != nil {
		panic(fmt.Errorf("sparse: dense inputs that were read before: %w", err))
	}
}
