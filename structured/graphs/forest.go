package graphs

import "github.com/dsp-go/dsp/structured"

// IsForest reports whether a graph with n variables has no loops.
func IsForest(g *structured.Graph, n int) bool {
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
	for _, ends := range g.Ends {
		a, b := find(ends[0]), find(ends[1])
		if a == b {
			return false
		}
		root[a] = b
	}
	return true
}
