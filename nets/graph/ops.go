package graph

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Embed looks up discrete input number field: row t of the result [Rows×E] is the row of table [V×E] with the id of
// position t. The gradient costs time only for the rows that were used.
func (g *Graph) Embed(table *gorgonia.Node, field int) (*gorgonia.Node, error) {
	s := table.Shape()
	if field < 0 || field >= len(g.Input.Vocab) || len(s) != 2 || s[0] != g.Input.Vocab[field] {
		return nil, fmt.Errorf("nets: Embed of field %d with a table %v: the input's vocabularies have sizes %v", field, s,
			g.Input.Vocab)
	}
	g.needs.field(field)
	return g.gather(table, Index{Kind: IndexIds, Field: field}, g.Rows, s[1])
}

// Places looks up the rows of table [P×E] that belong to places in an example: row first + t for its position t, from
// 0. The caller makes sure that no example has more than P − first positions.
func (g *Graph) Places(table *gorgonia.Node, first int) (*gorgonia.Node, error) {
	s := table.Shape()
	if len(s) != 2 || first < 0 || first >= s[0] {
		return nil, fmt.Errorf("nets: Places from row %d of a table %v", first, s)
	}
	if !slices.Contains(g.needs.Places, first) {
		g.needs.Places = append(g.needs.Places, first)
	}
	return g.gather(table, Index{Kind: IndexPlaces, Field: first}, g.Rows, s[1])
}

// Window joins the rows of neighbouring positions: row t of the result [Rows×width·C] is x_{t−w}, …, x_t, …, x_{t+w}
// with w = ⌊width/2⌋, and zeros outside the example. Width is odd.
func (g *Graph) Window(x *gorgonia.Node, width int) (*gorgonia.Node, error) {
	if width < 1 || width%2 == 0 {
		return nil, fmt.Errorf("nets: Window of width %d: expected an odd positive width", width)
	}
	if width == 1 {
		return x, nil
	}
	s := x.Shape()
	if len(s) != 2 || s[0] != g.Rows {
		return nil, fmt.Errorf("nets: Window of %v: expected one row for each of %d positions", s, g.Rows)
	}
	g.needs.window(width)
	w, err := g.gather(x, Index{Kind: IndexWindow, Width: width}, g.Rows*width, s[1])
	if err != nil {
		return nil, err
	}
	return gorgonia.Reshape(w, tensor.Shape{g.Rows, width * s[1]})
}

// Patches prepares a convolution over images: x [Rows·height·width × C] has one row of channels per pixel, and each row
// of the result [Rows·height·width × 9·C] has the 3×3 neighbourhood of a pixel, zero outside the image. A matrix
// product with [9·C × C'] is then a convolution.
func (g *Graph) Patches(x *gorgonia.Node, height, width int) (*gorgonia.Node, error) {
	s := x.Shape()
	if len(s) != 2 || s[0] != g.Rows*height*width {
		return nil, fmt.Errorf("nets: Patches of %v: expected one row for each of %d×%d×%d pixels", s, g.Rows, height, width)
	}
	at := Index{Kind: IndexPattern, Rows: height * width}
	for r := range height {
		for c := range width {
			for dr := -1; dr <= 1; dr++ {
				for dc := -1; dc <= 1; dc++ {
					to := int32(-1)
					if r+dr >= 0 && r+dr < height && c+dc >= 0 && c+dc < width {
						to = int32((r+dr)*width + c + dc)
					}
					at.Fixed = append(at.Fixed, to)
				}
			}
		}
	}
	p, err := g.gather(x, at, s[0]*9, s[1])
	if err != nil {
		return nil, err
	}
	return gorgonia.Reshape(p, tensor.Shape{s[0], 9 * s[1]})
}

func (g *Graph) gather(x *gorgonia.Node, at Index, rows, cols int) (*gorgonia.Node, error) {
	size := x.Shape().TotalSize()
	op := &fusedOp{
		name: "gather " + at.String(),
		out:  tensor.Shape{rows, cols},
		eval: func(args [][]float64, out []float64) {
			for j, r := range g.rowsOf(at, rows) {
				if r >= 0 {
					copy(out[j*cols:(j+1)*cols], args[0][int(r)*cols:])
				}
			}
		},
		lowered: func(b *builder, args []*value) *value {
			return b.add(Gather{at, cols}, []int{rows, cols}, args[0])
		},
	}
	op.pull = func(inputs gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		back := &fusedOp{
			name: "scatter " + at.String(),
			out:  tensor.Shape{size / cols, cols},
			eval: func(args [][]float64, out []float64) {
				for j, r := range g.rowsOf(at, rows) {
					for c := range cols {
						if r >= 0 {
							out[int(r)*cols+c] += args[0][j*cols+c]
						}
					}
				}
			},
			lowered: func(b *builder, args []*value) *value {
				return b.add(Scatter{Gather{at, cols}}, []int{size / cols, cols}, args[0])
			},
		}
		n, err := back.apply(grad)
		return gorgonia.Nodes{n}, err
	}
	return op.apply(x)
}

// rowsOf lists the entries of an index, for Gorgonia's machines.
func (g *Graph) rowsOf(at Index, rows int) []int32 {
	if at.Kind != IndexPattern {
		return g.indices(at)
	}
	out := make([]int32, rows)
	for j := range out {
		r := at.Fixed[j%len(at.Fixed)]
		if r >= 0 {
			r += int32(j / len(at.Fixed) * at.Rows)
		}
		out[j] = r
	}
	return out
}

func (n *Needs) window(width int) {
	for _, w := range n.Windows {
		if w == width {
			return
		}
	}
	n.Windows = append(n.Windows, width)
}

func (n *Needs) field(f int) {
	for _, e := range n.Fields {
		if e == f {
			return
		}
	}
	n.Fields = append(n.Fields, f)
}

// Dense returns x·weight + bias for x [M×in], weight [in×out] and bias [out].
func (g *Graph) Dense(x, weight, bias *gorgonia.Node) (*gorgonia.Node, error) {
	h, err := gorgonia.Mul(x, weight)
	if err != nil {
		return nil, err
	}
	return g.AddBias(h, bias)
}

// AddBias adds the vector bias [C] to every row of x [M×C].
func (g *Graph) AddBias(x, bias *gorgonia.Node) (*gorgonia.Node, error) {
	row, err := gorgonia.Reshape(bias, tensor.Shape{1, bias.Shape().TotalSize()})
	if err != nil {
		return nil, err
	}
	return gorgonia.BroadcastAdd(x, row, nil, []byte{0})
}
