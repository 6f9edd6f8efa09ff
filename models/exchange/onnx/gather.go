package onnx

import (
	"fmt"

	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// gatherRows translates a lookup of rows.
func (n *network) gatherRows(at int, s *graph.Step, o graph.Gather) {
	x, c, f := s.Args[0], o.Cols, n.flow
	switch i := o.Index; i.Kind {
	case graph.IndexIds:
		ids := n.gather(n.words(len(n.shape.Vocab)), n.int(i.Field), 2)
		table := n.in(x, n.flow.Steps[x].N/c, c)
		n.set(at, n.reshape(n.gather(table, ids, 0), -1, c), f.Rows, c)
	case graph.IndexWindow:
		n.set(at, n.reshape(n.window(n.padded(n.in(x, f.Rows, c), c), i.Width), -1, i.Width*c), f.Rows, i.Width*c)
	case graph.IndexPattern: // made when it is read: a product with patches becomes a convolution
	case graph.IndexPlaces: // the same rows for every example
		table := n.in(x, n.flow.Steps[x].N/c, c)
		y := n.gather(table, n.of("Add", n.positions(), n.int(i.Field)), 0)
		n.set(at, n.reshape(n.of("Expand", y, n.concat(0, n.size(), n.ints(c))), -1, c), f.Rows, c)
	case graph.IndexGrid:
		grid := n.shape.Grid
		y := n.fixed(n.reshape(n.in(x, f.Rows, c), -1, grid.Cells(), c), gridWindow(grid, i.Width), grid.Cells())
		n.set(at, n.reshape(y, -1, i.Width*i.Width*c), f.Rows, i.Width*i.Width*c)
	case graph.IndexCharacters, graph.IndexCharacterWindow, graph.IndexCharacterParts:
		n.gatherCharacters(at, s, o)
	case graph.IndexSources: // source item i of an example is its position i
		n.set(at, n.in(x, f.Rows, c), f.Rows, c)
	case graph.IndexDependents, graph.IndexHeads, graph.IndexDistances, graph.IndexFirstEnds, graph.IndexSecondEnds:
		n.gatherPairs(at, s, o)
	default:
		n.fail(structured.BadInput("op %q has no translation to ONNX", o))
	}
}

// window joins neighbouring positions of x [B×T×C]: [B×T×width·C], with zeros outside the example, or outside the
// source or the target items.
func (n *network) window(x string, width int) string {
	x = n.keep(x)
	parts := make([]string, width)
	for k := range parts {
		by := k - width/2
		parts[k] = n.shifted(x, by, 3, n.float(0))
		if by != 0 && n.flow.Needs.Split {
			side := n.once("side", func() string {
				sources := n.of("Unsqueeze", n.sources(), n.ints(1))
				return n.cast(n.of("Less", n.positions(), sources), format.Int64)
			})
			same := n.of("Equal", side, n.shifted(side, by, 2, n.int(-1)))
			parts[k] = n.of("Where", n.of("Unsqueeze", same, n.ints(2)), parts[k], n.float(0))
		}
	}
	return n.concat(2, parts...)
}

// pattern looks up rows of each repetition of so many rows at fixed places.
func (n *network) pattern(at int, s *graph.Step, places []int32, rows, cols int) {
	x := s.Args[0]
	repetitions := n.flow.Steps[x].N / (rows * cols)
	y := n.fixed(n.in(x, repetitions, rows, cols), places, rows)
	n.set(at, y, repetitions, len(places), cols)
}

// fixed looks up rows of x [R×rows×C] at fixed places, −1 for a row of zeros.
func (n *network) fixed(x string, places []int32, rows int) string {
	at := make([]int, len(places))
	for i, p := range places {
		if at[i] = int(p); p < 0 {
			at[i] = rows
		}
	}
	return n.gather(n.of("Pad", x, n.ints(0, 0, 0, 0, 1, 0), n.float(0)), n.ints(at...), 1)
}

// gridWindow lists the width×width cells around each cell of a grid, −1 outside.
func gridWindow(g graph.Grid, width int) []int32 {
	var places []int32
	half := width / 2
	for y := range g.Height {
		for x := range g.Width {
			for i := y - half; i <= y+half; i++ {
				for j := x - half; j <= x+half; j++ {
					if i < 0 || i >= g.Height || j < 0 || j >= g.Width {
						places = append(places, -1)
					} else {
						places = append(places, int32(i*g.Width+j))
					}
				}
			}
		}
	}
	return places
}

// bag translates the sum of a table's rows over the attributes of each position or pair.
func (n *network) bag(at int, s *graph.Step, o graph.Bag) {
	x, name, rows := s.Args[0], inputAttributes, n.flow.Rows
	if o.Pairs {
		name, rows = "pair_"+inputAttributes, n.flow.Pairs
	}
	size := n.flow.Steps[x].N / o.Cols
	table := n.in(x, size, o.Cols)
	if w := n.flow.Steps[x]; w.Op == nil && w.Space == graph.SpaceWeights {
		table = n.withZeros(table, n.w[w.Offset:w.Offset+w.N], size, o.Cols)
	} else {
		table = n.of("Pad", table, n.ints(0, 0, 1, 0), n.float(0))
	}
	a := attributes{name: name, pairs: o.Pairs, values: n.valued}
	n.set(at, n.reshape(a.sum(n.inputs, table, size, o.Cols), -1, o.Cols), rows, o.Cols)
}

// withZeros makes a table of weights with a row of zeros below it, and removes the table without, which nothing else
// reads.
func (n *network) withZeros(name string, w []float32, rows, cols int) string {
	return n.once(name+" and zeros", func() string {
		for i, t := range n.initializers {
			if t.Name == name {
				n.initializers = append(n.initializers[:i:i], n.initializers[i+1:]...)
				break
			}
		}
		return n.floats(fmt.Sprint(name, "_and_zeros"), append(w[:len(w):len(w)], make([]float32, cols)...), rows+1, cols)
	})
}
