package exact

import (
	"sync/atomic"

	"github.com/dsp-go/dsp/structured"
)

// plan is what is worked out once per graph.
type plan struct {
	order  []int32 // the variables that have edges or none, parents before children
	parent []int32 // [V] the parent of each variable, −1 for a root; in a graph with loops, of a spanning forest
	edge   []int32 // [V] the edge to the parent
	steps  []step  // [V] in the order of order
	forest bool    // no edge is left over

	junction atomic.Pointer[junctionPlan] // of a graph with loops, for the labels that were asked for last
}

// step is what the messages of a variable need.
type step struct {
	v, parent, edge int32
	table           int32 // 2·type + 1 if the variable is the second end of the edge to its parent
}

// planOf returns the plan of a graph with n variables.
func planOf(g *structured.Graph, n int) *plan {
	return structured.Derived(g, func(g *structured.Graph) *plan { return newPlan(g, n) })
}

// newPlan walks the graph breadth first from the lowest variable of each component.
func newPlan(g *structured.Graph, n int) *plan {
	p := &plan{parent: make([]int32, n), edge: make([]int32, n), order: make([]int32, 0, n)}
	start := make([]int32, n+1) // of each variable's edges in at
	for _, ends := range g.Ends {
		start[ends[0]]++
		start[ends[1]]++
	}
	sum := int32(0)
	for v, degree := range start {
		start[v], sum = sum, sum+degree
	}
	at := make([]int32, sum)
	next := append([]int32(nil), start...)
	for e, ends := range g.Ends {
		for _, v := range ends {
			at[next[v]] = int32(e)
			next[v]++
		}
	}
	const unseen = -2
	for v := range p.parent {
		p.parent[v] = unseen
	}
	used := 0
	for root := range p.parent {
		if p.parent[root] != unseen {
			continue
		}
		p.parent[root], p.edge[root] = -1, -1
		p.order = append(p.order, int32(root))
		for k := len(p.order) - 1; k < len(p.order); k++ {
			v := p.order[k]
			for _, e := range at[start[v]:start[v+1]] {
				u := g.Ends[e][0] + g.Ends[e][1] - v
				if p.parent[u] == unseen {
					p.parent[u], p.edge[u] = v, e
					p.order = append(p.order, u)
					used++
				}
			}
		}
	}
	if p.forest = used == len(g.Ends); p.forest {
		p.steps = p.forestSteps(g)
	}
	return p
}

func (p *plan) forestSteps(g *structured.Graph) []step {
	steps := make([]step, len(p.order))
	for k, v := range p.order {
		s := step{v: v, parent: p.parent[v], edge: p.edge[v]}
		if e := s.edge; e >= 0 {
			if g.Types != nil {
				s.table = 2 * g.Types[e]
			}
			if g.Ends[e][1] == v {
				s.table++
			}
		}
		steps[k] = s
	}
	return steps
}
