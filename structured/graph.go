package structured

import "sync"

// Graph says which variables of an example share an edge. Variables are the example's positions, numbered from 0.
type Graph struct {
	Ends  [][2]int32 // [E] the two variables of each edge; the potentials of an edge are a table [Y×Y] of their labels in this order
	Types []int32    // [E] the type of each edge, where potentials are tied by type; nil where every edge has its own

	once    sync.Once
	derived any // what oracles work out once per graph
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

// Derive returns what derive makes of the graph. It calls derive once, for whichever caller comes first: derive must always be the same
// function.
func (g *Graph) Derive(derive func(*Graph) any) any {
	g.once.Do(func() { g.derived = derive(g) })
	return g.derived
}
