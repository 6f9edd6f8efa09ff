package graph

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/structured/vec"
)

// Grid is the shape of examples whose positions are the cells of a grid, line by line; the zero Grid is for sequences. Empty examples
// are allowed.
type Grid struct{ Height, Width int }

// Cells returns the number of cells.
func (s Grid) Cells() int { return s.Height * s.Width }

func (s Grid) String() string { return fmt.Sprintf("%d×%d", s.Height, s.Width) }

// GridWindow joins the rows of neighbouring cells of a grid: row t of the result [Rows×width·width·C] has the rows of x [Rows×C] of the
// width×width cells around t, line by line, and zeros outside the grid. Width is odd. A matrix product with [width·width·C × O] is then
// a convolution over the cells.
func (g *Graph) GridWindow(x *gorgonia.Node, width int) (*gorgonia.Node, error) {
	s := x.Shape()
	switch {
	case g.Input.Grid.Cells() == 0:
		return nil, fmt.Errorf("nets: GridWindow: the positions are not cells of a grid")
	case width < 1 || width%2 == 0:
		return nil, fmt.Errorf("nets: GridWindow of width %d: expected an odd positive width", width)
	case len(s) != 2 || s[0] != g.Rows:
		return nil, fmt.Errorf("nets: GridWindow of %v: expected one row for each of %d positions", s, g.Rows)
	}
	if width == 1 {
		return x, nil
	}
	if !slices.Contains(g.needs.Grids, width) {
		g.needs.Grids = append(g.needs.Grids, width)
	}
	w, err := g.gather(x, Index{Kind: IndexGrid, Width: width}, g.Rows*width*width, s[1])
	if err != nil {
		return nil, err
	}
	return gorgonia.Reshape(w, tensor.Shape{g.Rows, width * width * s[1]})
}

// gridRows lists the width×width cells around each position, −1 outside its grid.
func gridRows(to []int32, offsets []int, shape Grid, width, rows int) []int32 {
	to = vec.Grow(to, rows*width*width)
	at, half := 0, width/2
	for b := range len(offsets) - 1 {
		lo := offsets[b]
		for t := range offsets[b+1] - lo {
			for y := t/shape.Width - half; y <= t/shape.Width+half; y++ {
				for x := t%shape.Width - half; x <= t%shape.Width+half; x++ {
					to[at] = -1
					if y >= 0 && y < shape.Height && x >= 0 && x < shape.Width {
						to[at] = int32(lo + y*shape.Width + x)
					}
					at++
				}
			}
		}
	}
	for ; at < len(to); at++ {
		to[at] = -1
	}
	return to
}
