package graph

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Grid is the shape of examples whose positions are the cells of a grid, line by line; the zero Grid is for sequences.
// Empty examples are allowed.
type Grid struct{ Height, Width int }

// Cells returns the number of cells.
func (s Grid) Cells() int { return s.Height * s.Width }

func (s Grid) String() string { return fmt.Sprintf("%d×%d", s.Height, s.Width) }

// GridWindow joins the rows of neighbouring cells of a grid: row t of the result [Rows×width·width·C] has the rows of x
// [Rows×C] of the width×width cells around t, line by line, and zeros outside the grid. Width is odd. A matrix product
// with [width·width·C × O] is then a convolution over the cells.
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

// Map is the shape of a row that is a map: Height×Width cells of Channels numbers, channels last. Number (y·Width +
// x)·Channels + c of the row is channel c of the cell in line y and column x.
type Map struct{ Height, Width, Channels int }

// Cells returns the number of cells.
func (m Map) Cells() int { return m.Height * m.Width }

// Len returns how many numbers a map has; 0 for the zero Map.
func (m Map) Len() int { return m.Cells() * m.Channels }

func (m Map) String() string { return fmt.Sprintf("%d×%d×%d", m.Height, m.Width, m.Channels) }

// Filter is the geometry of a convolution: a window of Kernel×Kernel cells moves by Stride cells at a time over a map
// with Padding cells of zeros on each side.
type Filter struct{ Kernel, Stride, Padding int }

// Over returns the map that a convolution with the given number of output channels makes of m: ⌊(size + 2·Padding −
// Kernel)/Stride⌋ + 1 cells along each axis. The filter must fit into the padded map, and Padding must be less than
// Kernel, since windows of zeros alone tell nothing.
func (f Filter) Over(m Map, channels int) (Map, error) {
	switch {
	case f.Kernel < 1 || f.Stride < 1 || f.Padding < 0 || f.Padding >= f.Kernel:
		return Map{}, fmt.Errorf("a filter of kernel %d, stride %d and padding %d: expected a kernel and a stride of at "+
			"least 1, and a padding from 0 to %d",
			f.Kernel, f.Stride, f.Padding, max(0, f.Kernel-1))
	case m.Height < 1 || m.Width < 1 || m.Channels < 1 || channels < 1:
		return Map{}, fmt.Errorf("a convolution of maps %s to %d channels: expected at least 1 along each axis", m, channels)
	case min(m.Height, m.Width)+2*f.Padding < f.Kernel:
		return Map{}, fmt.Errorf("a filter of %d×%d cells does not fit maps of %d×%d with padding %d", f.Kernel, f.Kernel,
			m.Height, m.Width, f.Padding)
	}
	along := func(size int) int { return (size+2*f.Padding-f.Kernel)/f.Stride + 1 }
	return Map{along(m.Height), along(m.Width), channels}, nil
}

// plain reports whether each cell of the result depends on one cell of m, in order.
func (f Filter) plain() bool { return f == Filter{1, 1, 0} }

// whole reports whether the only window is all of m, so that a patch is a row.
func (f Filter) whole(m Map) bool {
	return f.Padding == 0 && f.Kernel == m.Height && f.Kernel == m.Width
}
