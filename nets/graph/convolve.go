package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Conv is a convolution within each row, as the op Conv says: rows that are maps of shape m become rows that are maps of shape
// f.Over(m, O). x is [M × m.Len()], or has as many numbers in another shape, with M = Rows or a multiple of it; weight is
// [Kernel·Kernel·C × O], and bias [O] or nil. The result is [M × H'·W'·O].
func (g *Graph) Conv(x, weight, bias *gorgonia.Node, m Map, f Filter) (*gorgonia.Node, error) {
	ws, total := weight.Shape(), x.Shape().TotalSize()
	if len(ws) != 2 || ws[0] != f.Kernel*f.Kernel*m.Channels || m.Len() == 0 || total%m.Len() != 0 {
		return nil, fmt.Errorf("nets: Conv of %v with weights %v: expected rows of %s and weights [%d×O]", x.Shape(), ws, m, f.Kernel*f.Kernel*m.Channels)
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

// eachTerm visits the terms of every sum, for Gorgonia's machines: entry at of the result has the product of entry from of x and entry
// w of the weights.
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
						visit(cell*n+k, ((image*o.From.Height+y)*o.From.Width+x)*o.From.Channels+c, ((i*o.Kernel+j)*o.From.Channels+c)*n+k)
					}
				}
			}
		}
	}
}
