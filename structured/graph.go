package structured

import "sync"

// Graph says which variables of an example share an edge. Variables are the example's positions, numbered from 0.
type Graph struct {
	Ends  [][2]int32 // [E] the two variables of each edge; the potentials of an edge are a table [Y×Y] of their labels in this order
	Types []int32    // [E] the type of each edge, where potentials are tied by type; nil where every edge has its own

	mutex   sync.Mutex
	derived []any // what oracles work out once per graph, one of each type
}

// GraphReader is a Structure that reads the graphs of its examples. Potentials and marginals carry them.
type GraphReader interface {
	Structure
	// ReadsGraphs marks the structure.
	ReadsGraphs()
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

// Derived returns what derive makes of the graph. It calls derive once for each type T, for whichever caller comes first: derive must
// always be the same function.
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
