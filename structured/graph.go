package structured

import "sync"

// Graph says which variables of an example share an edge. Variables are the example's positions, numbered from 0.
type Graph struct {
	// [E] the two variables of each edge; the potentials of an edge are a table [Y×Y] of their labels in this order
	Ends  [][2]int32
	Types []int32 // [E] the type of each edge, where potentials are tied by type; nil where every edge has its own

	mutex   sync.Mutex
	derived []any // what oracles work out once per graph, one of each type
}

// GraphReader is a Structure that reads the graphs of its examples. Potentials and marginals carry them.
type GraphReader interface {
	Structure
	// ReadsGraphs marks the structure.
	ReadsGraphs()
}

// ReadsGraphs reports whether the structure reads the graphs of the examples.
func (f Form) ReadsGraphs() bool {
	_, reads := f.Structure.(GraphReader)
	return reads
}

// graphs returns the graphs of a batch in the memory of to, if the structure reads them.
func (f Form) graphs(to []*Graph, batch *Batch) []*Graph {
	if _, reads := f.Structure.(GraphReader); !reads || batch.Data.Graphs == nil {
		return nil
	}
	to = to[:0]
	for _, i := range batch.Examples {
		to = append(to, batch.Data.Graphs[i])
	}
	return to
}

// Derived returns what derive makes of the graph. It calls derive once for each type T, for whichever caller comes
// first: derive must always be the same function.
func Derived[T any](g *Graph, derive func(*Graph) *T) *T {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, d := range g.derived {
		if of, ok := d.(*T); ok {
			return of
		}
	}
	of := derive(g)
	g.derived = append(g.derived, of)
	return of
}

// CheckGraphs refuses examples whose graphs do not have an edge for each row of the table Edges, or have one whose ends
// are not two of the example's variables.
func (d *Dataset) CheckGraphs(examples []int) error {
	t := d.Table(Edges)
	switch {
	case t == nil:
		return BadInput("%s has no table of rows %q: expected a row for each edge", d.Name, Edges)
	case len(d.Graphs) != d.Len():
		return BadInput("%s has %d graphs for %d examples", d.Name, len(d.Graphs), d.Len())
	}
	for _, i := range examples {
		g, rows, n := d.Graphs[i], t.Offsets[i+1]-t.Offsets[i], d.Length(i)
		if g == nil || len(g.Ends) != rows {
			return BadInput("%s: %d rows of table %q; expected one for each edge of its graph", d.Where(i), rows, Edges)
		}
		for e, uv := range g.Ends {
			if u, v := uint(uv[0]), uint(uv[1]); u >= uint(n) || v >= uint(n) || u == v {
				return BadInput("%s: edge %d joins variables %d and %d; expected two of 0 to %d", d.Where(i), e, uv[0], uv[1], n-1)
			}
		}
	}
	return nil
}
