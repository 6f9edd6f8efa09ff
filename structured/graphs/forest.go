package graphs

import "github.com/dsp-go/dsp/structured"

// IsForest reports whether a graph with n variables has no loops.
func IsForest(g *structured.Graph, n int) bool { return len(spanning(g, n).Ends) == len(g.Ends) }

// spanning returns the edges of g that close no loop, in order.
func spanning(g *structured.Graph, n int) *structured.Graph {
	root := make([]int32, n)
	for v := range root {
		root[v] = int32(v)
	}
	find := func(v int32) int32 {
		for root[v] != v {
			v = root[v]
		}
		return v
	}
	f := &structured.Graph{}
	for e, ends := range g.Ends {
		if a, b := find(ends[0]), find(ends[1]); a != b {
			root[a] = b
			f.Ends, f.Types = append(f.Ends, ends), append(f.Types, g.Types[e])
		}
	}
	return f
}
