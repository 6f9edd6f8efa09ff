package graphs

import (
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// Small draws the form of potentials of a few graphs that are small enough to enumerate, some without variables. They
// may have loops and several edges between the same variables.
func (p Pairwise) Small(r *rand.Rand) *structured.Potentials {
	labels, types := 1+r.IntN(4), 1+r.IntN(3)
	if p.By == Cut {
		labels = 2
	}
	nodes, edges := []int{0}, []int{0}
	var graphs []*structured.Graph
	for range 1 + r.IntN(3) {
		n := r.IntN(6)
		if labels == 4 {
			n = r.IntN(5)
		}
		g := &structured.Graph{}
		join := func(a, b int) {
			g.Ends = append(g.Ends, [2]int32{int32(a), int32(b)})
			g.Types = append(g.Types, int32(r.IntN(types)))
		}
		for range r.IntN(n + 3) {
			if a, b := r.IntN(max(1, n)), r.IntN(max(1, n)); a != b {
				join(a, b)
			}
		}
		graphs = append(graphs, g)
		nodes, edges = append(nodes, nodes[len(nodes)-1]+n), append(edges, edges[len(edges)-1]+len(g.Ends))
	}
	θ := new(structured.Potentials)
	θ.Reshape(p.Form(labels, types), nodes, func(table string) []int {
		if table == EdgeRows {
			return edges
		}
		return nodes
	})
	θ.Graphs = graphs
	return θ
}

// Prepare makes drawn potentials those that the inference answers for: for cuts, it swaps the scores of equal and
// different labels of edges that favour different ones.
func (p Pairwise) Prepare(θ *structured.Potentials) {
	if p.By != Cut {
		return
	}
	edge := θ.Parts[1].Values
	if p.Edges == Potts {
		for e, same := range edge {
			if math.IsInf(float64(same), -1) {
				same = 0
			}
			edge[e] = max(same, -same)
		}
		return
	}
	for ; len(edge) > 0; edge = edge[4:] {
		equal, different := float64(edge[0])+float64(edge[3]), float64(edge[1])+float64(edge[2])
		if equal < different || math.IsInf(equal, -1) && !math.IsInf(different, -1) {
			edge[0], edge[1], edge[2], edge[3] = edge[1], edge[0], edge[3], edge[2]
		}
	}
}
