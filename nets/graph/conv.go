package graph

import (
	"fmt"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured/vec"
)

// Conv is a convolution of Maps maps, channels last. From x [Maps × From] and the weights w [Kernel·Kernel·C × O] it computes
//
//	out[(y, z), o] = Σ_{i, j, c} x[(s·y + i − p, s·z + j − p), c]·w[(i·Kernel + j)·C + c, o]
//
// for every map, with stride s and padding p; cells outside the map are zero. The neighbourhoods of a block of cells become the rows
// of a matrix (Patches·w is then a matrix product), so that memory does not grow with the number of maps. Blocks depend on the sizes
// only.
type Conv struct {
	Maps     int
	From, To Map
	Filter
}

func (o Conv) String() string {
	return fmt.Sprintf("convolution %d×%d/%d of %s to %s", o.Kernel, o.Kernel, o.Stride, o.From, o.To)
}

// Patch returns how many numbers the neighbourhood of a cell has: the rows of w.
func (o Conv) Patch() int { return o.Kernel * o.Kernel * o.From.Channels }

// cells returns the number of cells of all results.
func (o Conv) cells() int { return o.Maps * o.To.Cells() }

func (Conv) accumulates() {}

func (o Conv) tangent(b *builder, v *value, d []*value) *value {
	var l, r *value
	if d[0] != nil {
		l = b.add(o, v.shape, d[0], v.args[1])
	}
	if d[1] != nil {
		r = b.add(o, v.shape, v.args[0], d[1])
	}
	return b.sum(l, r)
}

func (o Conv) Run(m *Machine, in *Instruction) {
	out, x, w := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	beta := float32(0)
	if in.Accumulate {
		beta = 1
	}
	n, patch := o.To.Channels, o.Patch()
	for lo, hi := range o.blocks() {
		m.columns = vec.Grow(m.columns, (hi-lo)*patch)
		o.gather(m.columns, x, lo, hi)
		m.BLAS.Sgemm(false, false, hi-lo, n, patch, m.columns, w, beta, out[lo*n:hi*n])
	}
}

// ConvInput is the pullback of Conv to x. Its arguments are g, the cotangent of the result, and w.
type ConvInput struct{ Conv }

func (o ConvInput) String() string { return o.Conv.String() + " to its input" }

func (o ConvInput) tangent(*builder, *value, []*value) *value { return nil }

func (o ConvInput) Run(m *Machine, in *Instruction) {
	out, g, w := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	n, patch := o.To.Channels, o.Patch()
	for lo, hi := range o.blocks() {
		g := g[lo*n : hi*n]
		if allZero(g) {
			continue
		}
		m.columns = vec.Grow(m.columns, (hi-lo)*patch)
		m.BLAS.Sgemm(false, true, hi-lo, patch, n, g, w, 0, m.columns)
		o.scatter(out, m.columns, lo, hi)
	}
}

// ConvWeight is the pullback of Conv to w. Its arguments are x and g, the cotangent of the result.
type ConvWeight struct{ Conv }

func (o ConvWeight) String() string { return o.Conv.String() + " to its weights" }

func (o ConvWeight) tangent(*builder, *value, []*value) *value { return nil }

func (o ConvWeight) Run(m *Machine, in *Instruction) {
	out, x, g := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	n, patch := o.To.Channels, o.Patch()
	for lo, hi := range o.blocks() {
		g := g[lo*n : hi*n]
		if allZero(g) {
			continue
		}
		m.columns = vec.Grow(m.columns, (hi-lo)*patch)
		o.gather(m.columns, x, lo, hi)
		m.BLAS.Sgemm(true, false, patch, n, hi-lo, m.columns, g, 1, out)
	}
}

// allZero reports whether a cotangent is zero, as those of the rows that no output of an oracle uses are.
func allZero(g []float32) bool {
	for _, x := range g {
		if x != 0 {
			return false
		}
	}
	return true
}

// blockNumbers is about how many numbers the patches of a block have: as many as fit a second-level cache with the other factor.
const blockNumbers = 1 << 16

// blocks iterates over ranges of cells.
func (o Conv) blocks() func(yield func(lo, hi int) bool) {
	size := max(16, blockNumbers/o.Patch()/16*16)
	return func(yield func(lo, hi int) bool) {
		for lo := 0; lo < o.cells(); lo += size {
			if !yield(lo, min(lo+size, o.cells())) {
				return
			}
		}
	}
}

// gather copies the neighbourhoods of cells lo to hi-1 to the rows of to.
func (o Conv) gather(to, x []float32, lo, hi int) {
	row := o.Kernel * o.From.Channels
	o.lines(lo, hi, func(at, from, before, n int) {
		line := to[at*row : (at+1)*row]
		clear(line[:before])
		copy(line[before:before+n], x[from:from+n])
		clear(line[before+n:])
	})
}

// scatter adds the rows of columns to the neighbourhoods of cells lo to hi-1: the adjoint of gather.
func (o Conv) scatter(to, columns []float32, lo, hi int) {
	row := o.Kernel * o.From.Channels
	o.lines(lo, hi, func(at, from, before, n int) {
		sum := to[from : from+n]
		kernels.Rows.Add(sum, sum, columns[at*row+before:][:n])
	})
}

// lines visits the lines of the neighbourhoods of cells lo to hi-1: line number at consists of before zeros, then n numbers of x from
// number from on, then zeros.
func (o Conv) lines(lo, hi int, visit func(at, from, before, n int)) {
	c, k, h, w := o.From.Channels, o.Kernel, o.From.Height, o.From.Width
	at := 0
	for cell := lo; cell < hi; cell++ {
		image, of := cell/o.To.Cells(), cell%o.To.Cells()
		top, left := of/o.To.Width*o.Stride-o.Padding, of%o.To.Width*o.Stride-o.Padding
		first, last := max(0, -left), min(k, w-left)
		for y := top; y < top+k; y++ {
			if y < 0 || y >= h || first >= last {
				visit(at, 0, 0, 0)
			} else {
				visit(at, ((image*h+y)*w+left+first)*c, first*c, (last-first)*c)
			}
			at++
		}
	}
}
