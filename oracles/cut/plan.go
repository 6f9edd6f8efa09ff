package cut

import "github.com/dsp-go/dsp/structured"

// plan is the flow network of a graph without its capacities. Edges between the same two variables share a pair of
// arcs.
type plan struct {
	first []int32 // [V+1] where the arcs that leave each variable begin
	arcs  []arc   // capacities are 0
	// [E] the arc from the first end of each edge to its second end; −1 for an edge from a variable to itself
	of []int32
}

// planOf returns the plan of a graph with n variables.
func planOf(g *structured.Graph, n int) *plan {
	return structured.Derived(g, func(g *structured.Graph) *plan { return newPlan(g, n) })
}

func newPlan(g *structured.Graph, n int) *plan {
	p := &plan{first: make([]int32, n+1), of: make([]int32, len(g.Ends))}
	pairs := p.pair(g, n)
	for _, ends := range pairs {
		p.first[ends[0]]++
		p.first[ends[1]]++
	}
	sum := int32(0)
	for v, degree := range p.first {
		p.first[v], sum = sum, sum+degree
	}
	p.arcs = make([]arc, sum)
	next := append([]int32(nil), p.first...)
	forward := make([]int32, len(pairs))
	for k, ends := range pairs {
		a, b := next[ends[0]], next[ends[1]]
		next[ends[0]]++
		next[ends[1]]++
		p.arcs[a], p.arcs[b] = arc{head: ends[1], sister: b}, arc{head: ends[0], sister: a}
		forward[k] = a
	}
	for e, ends := range g.Ends {
		switch k := p.of[e]; {
		case ends[0] == ends[1]:
			p.of[e] = -1
		case ends[0] < ends[1]:
			p.of[e] = forward[k]
		default:
			p.of[e] = p.arcs[forward[k]].sister
		}
	}
	return p
}

// pair lists the pairs of variables that share an edge, lower first, and stores the pair of every edge in of.
func (p *plan) pair(g *structured.Graph, n int) (pairs [][2]int32) {
	start := make([]int32, n+1) // of the edges of each variable that is the lower end
	for _, ends := range g.Ends {
		start[min(ends[0], ends[1])]++
	}
	sum := int32(0)
	for v, count := range start {
		start[v], sum = sum, sum+count
	}
	edges := make([]int32, sum)
	next := append([]int32(nil), start...)
	for e, ends := range g.Ends {
		low := min(ends[0], ends[1])
		edges[next[low]] = int32(e)
		next[low]++
	}
	pairOf := make([]int32, n) // with the present lower end; valid from base on
	for v := range pairOf {
		pairOf[v] = -1
	}
	for low := range int32(n) {
		base := int32(len(pairs))
		for _, e := range edges[start[low]:start[low+1]] {
			high := max(g.Ends[e][0], g.Ends[e][1])
			if high == low {
				continue
			}
			if pairOf[high] < base {
				pairOf[high] = int32(len(pairs))
				pairs = append(pairs, [2]int32{low, high})
			}
			p.of[e] = pairOf[high]
		}
	}
	return pairs
}
