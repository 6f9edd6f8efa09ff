package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Conv is a convolution of Maps maps, channels last. From x [Maps × From] and the weights w [Kernel·Kernel·C × O] it
// computes
//
//	out[(y, z), o] = Σ_{i, j, c} x[(s·y + i − p, s·z + j − p), c]·w[(i·Kernel + j)·C + c, o]
//
// for every map, with stride s and padding p; cells outside the map are zero. The neighbourhoods of a block of cells
// become the rows of a matrix (Patches·w is then a matrix product), so that memory does not grow with the number of
// maps. Blocks depend on the sizes only.
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

// blockNumbers is about how many numbers the patches of a block have: as many as fit a second-level cache with the
// other factor.
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

// lines visits the lines of the neighbourhoods of cells lo to hi-1: line number at consists of before zeros, then n
// numbers of x from number from on, then zeros.
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

// Conv is a convolution within each row, as the op Conv says: rows that are maps of shape m become rows that are maps
// of shape f.Over(m, O). x is [M × m.Len()], or has as many numbers in another shape, with M = Rows or a multiple of
// it; weight is [Kernel·Kernel·C × O], and bias [O] or nil. The result is [M × H'·W'·O].
func (g *Graph) Conv(x, weight, bias *gorgonia.Node, m Map, f Filter) (*gorgonia.Node, error) {
	ws, total := weight.Shape(), x.Shape().TotalSize()
	if len(ws) != 2 || ws[0] != f.Kernel*f.Kernel*m.Channels || m.Len() == 0 || total%m.Len() != 0 {
		return nil, fmt.Errorf("nets: Conv of %v with weights %v: expected rows of %s and weights [%d×O]", x.Shape(), ws, m,
			f.Kernel*f.Kernel*m.Channels)
	}
	to, err := f.Over(m, ws[1])
	if err != nil {
		return nil, fmt.Errorf("nets: Conv: %w", err)
	}
	maps := total / m.Len()
	y, err := g.convolve(x, weight, Conv{maps, m, to, f})
	if err != nil {
		return nil, err
	}
	if bias != nil {
		if y, err = g.AddBias(y, bias); err != nil {
			return nil, err
		}
	}
	return gorgonia.Reshape(y, tensor.Shape{maps, to.Len()})
}

// convolve returns the convolution without bias, one row per cell.
func (g *Graph) convolve(x, weight *gorgonia.Node, o Conv) (*gorgonia.Node, error) {
	out := tensor.Shape{o.cells(), o.To.Channels}
	if o.plain() || o.whole(o.From) { // every number of x is in one patch
		rows, err := gorgonia.Reshape(x, tensor.Shape{o.cells(), o.Patch()})
		if err != nil {
			return nil, err
		}
		return gorgonia.Mul(rows, weight)
	}
	op := &fusedOp{name: o.String(), out: out,
		eval: func(args [][]float64, out []float64) {
			o.eachTerm(func(at, from, w int) { out[at] += args[0][from] * args[1][w] })
		},
		lowered: func(b *builder, args []*value) *value { return b.add(o, out, args...) },
	}
	op.pull = func(in gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		toX := &fusedOp{name: ConvInput{o}.String(), out: x.Shape().Clone(),
			eval: func(args [][]float64, out []float64) {
				o.eachTerm(func(at, from, w int) { out[from] += args[0][at] * args[1][w] })
			},
			lowered: func(b *builder, args []*value) *value { return b.add(ConvInput{o}, x.Shape(), args...) },
		}
		toW := &fusedOp{name: ConvWeight{o}.String(), out: weight.Shape().Clone(),
			eval: func(args [][]float64, out []float64) {
				o.eachTerm(func(at, from, w int) { out[w] += args[1][at] * args[0][from] })
			},
			lowered: func(b *builder, args []*value) *value { return b.add(ConvWeight{o}, weight.Shape(), args...) },
		}
		dx, err := toX.apply(grad, in[1])
		if err != nil {
			return nil, err
		}
		dw, err := toW.apply(in[0], grad)
		return gorgonia.Nodes{dx, dw}, err
	}
	return op.apply(x, weight)
}

// eachTerm visits the terms of every sum, for Gorgonia's machines: entry at of the result has the product of entry from
// of x and entry w of the weights.
func (o Conv) eachTerm(visit func(at, from, w int)) {
	n := o.To.Channels
	for cell := range o.cells() {
		image, of := cell/o.To.Cells(), cell%o.To.Cells()
		for i := range o.Kernel {
			for j := range o.Kernel {
				y, x := of/o.To.Width*o.Stride+i-o.Padding, of%o.To.Width*o.Stride+j-o.Padding
				if y < 0 || y >= o.From.Height || x < 0 || x >= o.From.Width {
					continue
				}
				for c := range o.From.Channels {
					for k := range n {
						visit(cell*n+k, ((image*o.From.Height+y)*o.From.Width+x)*o.From.Channels+c,
							((i*o.Kernel+j)*o.From.Channels+c)*n+k)
					}
				}
			}
		}
	}
}
