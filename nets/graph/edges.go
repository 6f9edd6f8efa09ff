package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Networks of graphs: their potentials have a part with a row for each edge.

// EdgeFeatures returns the dense inputs of edges [Pairs×EdgeDim].
func (g *Graph) EdgeFeatures() (*gorgonia.Node, error) {
	if !g.needs.Edges || g.Input.EdgeDim == 0 {
		return nil, fmt.Errorf("nets: EdgeFeatures: edges have %d features; expected some, and potentials "+
			"with a part of table %q", g.Input.EdgeDim, structured.Edges)
	}
	if g.edges == nil {
		g.edges = g.input("features of edges", g.Pairs, g.Input.EdgeDim)
		g.leaves[g.edges] = leaf{SpaceEdges, 0}
		g.needs.EdgeFeatures = true
	}
	return g.madePairs(g.edges), nil
}

// Ends copies rows of x [Rows×C] to the edges: row e of first [Pairs×C] is the row of the first end of edge e, and row
// e of second that of its second end.
func (g *Graph) Ends(x *gorgonia.Node) (first, second *gorgonia.Node, err error) {
	s := x.Shape()
	if !g.needs.Edges || len(s) != 2 || s[0] != g.Rows {
		return nil, nil, fmt.Errorf("nets: Ends of %v: expected one row for each of %d positions, and potentials "+
			"with a part of table %q", s, g.Rows, structured.Edges)
	}
	g.needs.Ends = true
	if first, err = g.gather(x, Index{Kind: IndexFirstEnds}, g.Pairs, s[1]); err != nil {
		return nil, nil, err
	}
	second, err = g.gather(x, Index{Kind: IndexSecondEnds}, g.Pairs, s[1])
	return g.madePairs(first), g.madePairs(second), err
}

// loadEdges gathers what the program reads of the edges of the batch's graphs.
func (m *Machine) loadEdges(p *Program, in Input, batch *structured.Batch) error {
	data := batch.Data
	m.edgeRows = batch.Rows(structured.Edges)
	if p.Needs.EdgeFeatures {
		t := data.Table(structured.Edges)
		if err := in.CheckEdges(data); err != nil {
			return err
		}
		to, at := m.Input(SpaceEdges, p.Pairs*in.EdgeDim), 0
		for _, e := range batch.Examples {
			at += copy(to[at:], t.Features[t.Offsets[e]*t.Dim:t.Offsets[e+1]*t.Dim])
		}
		clear(to[at:])
		m.Mem[SpaceEdges] = to
	}
	if p.Needs.Ends {
		for side := range m.ends {
			to, at := vec.Grow(m.ends[side], p.Pairs), 0
			for b, e := range batch.Examples {
				for _, ends := range data.Graphs[e].Ends {
					to[at] = int32(batch.Offsets[b]) + ends[side]
					at++
				}
			}
			for ; at < len(to); at++ {
				to[at] = -1
			}
			m.ends[side] = to
		}
	}
	return nil
}

// CheckEdges refuses data whose edges do not have the dense features of in. Data without edges need none.
func (in Input) CheckEdges(data *structured.Dataset) error {
	t := data.Table(structured.Edges)
	if t == nil {
		return structured.BadInput("%s has no table of rows %q, whose features the network reads",
			data.Name, structured.Edges)
	}
	if rows := t.Offsets[len(t.Offsets)-1]; rows > 0 && (t.Dim != in.EdgeDim || len(t.Features) != rows*t.Dim) {
		return structured.BadInput("%s has %d features for each of %d edges; the network reads %d", data.Name,
			len(t.Features)/rows, rows, in.EdgeDim)
	}
	return nil
}

// pairsOf returns the number of pairs or edges of example b of the batch.
func (m *Machine) pairsOf(b int) int {
	if m.edgeRows != nil {
		return m.edgeRows[b+1] - m.edgeRows[b]
	}
	return pairsOf(m.offsets, m.splits, b)
}
