package reweighted

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// plan orients a graph: every edge leads from the variable that comes first in a breadth-first order, its parent, to
// the other.
type plan struct {
	order []int32 // [V] parents before children
	links []link  // [E] by child, children in order
	first []int32 // [V+1] the links of child order[k] are links[first[k]:first[k+1]]
	out   []int32 // [E] links, by parent
	outOf []int32 // [V+1] those of parent v are out[outOf[v]:outOf[v+1]]
}

// link is an edge.
type link struct {
	edge, parent, child int32
	turned              bool // the parent is the edge's first end
}

func planOf(g *structured.Graph, n int) *plan {
	return structured.Derived(g, func(g *structured.Graph) *plan { return newPlan(g, n) })
}

// newPlan walks the graph breadth first from the lowest variable of each component.
func newPlan(g *structured.Graph, n int) *plan {
	start, at := incidence(g, n)
	when := make([]int32, n)
	for v := range when {
		when[v] = -1
	}
	p := &plan{first: []int32{0}}
	for root := range int32(n) {
		if when[root] >= 0 {
			continue
		}
		next := len(p.order)
		when[root], p.order = int32(next), append(p.order, root)
		for ; next < len(p.order); next++ {
			v := p.order[next]
			for _, e := range at[start[v]:start[v+1]] {
				if u := other(g, e, v); when[u] < 0 {
					when[u], p.order = int32(len(p.order)), append(p.order, u)
				}
			}
		}
	}
	for _, v := range p.order {
		for _, e := range at[start[v]:start[v+1]] {
			if u := other(g, e, v); when[u] < when[v] {
				p.links = append(p.links, link{e, u, v, g.Ends[e][0] == u})
			}
		}
		p.first = append(p.first, int32(len(p.links)))
	}
	p.outOf = make([]int32, n+1)
	for _, l := range p.links {
		p.outOf[l.parent+1]++
	}
	for v := range n {
		p.outOf[v+1] += p.outOf[v]
	}
	p.out = make([]int32, len(p.links))
	next := slices.Clone(p.outOf)
	for j, l := range p.links {
		p.out[next[l.parent]] = int32(j)
		next[l.parent]++
	}
	return p
}

func other(g *structured.Graph, e, v int32) int32 { return g.Ends[e][0] + g.Ends[e][1] - v }

// incidence lists the edges of each variable: at[start[v]:start[v+1]].
func incidence(g *structured.Graph, n int) (start, at []int32) {
	start = make([]int32, n+1)
	for _, ends := range g.Ends {
		start[ends[0]+1]++
		start[ends[1]+1]++
	}
	for v := range n {
		start[v+1] += start[v]
	}
	at = make([]int32, 2*len(g.Ends))
	next := slices.Clone(start)
	for e, ends := range g.Ends {
		for _, v := range ends {
			at[next[v]] = int32(e)
			next[v]++
		}
	}
	return start, at
}

// of returns the links of child order[k].
func (p *plan) of(k int) (from, to int) { return int(p.first[k]), int(p.first[k+1]) }
