package graph

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// forestOf draws a random tree of n variables with typed edges.
func forestOf(n, labels int) *structured.Potentials {
	r := rand.New(rand.NewPCG(1, 1))
	g := &structured.Graph{}
	for v := 1; v < n; v++ {
		g.Ends = append(g.Ends, [2]int32{int32(max(0, v-1-r.IntN(8))), int32(v)})
		g.Types = append(g.Types, int32(r.IntN(2)))
	}
	θ := new(structured.Potentials)
	θ.Reshape(graphs.Pairwise{Edges: graphs.Typed}.Form(labels, 2), []int{0, n}, func(string) []int { return []int{0, n} })
	θ.Graphs = []*structured.Graph{g}
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(r.NormFloat64())
		}
	}
	return θ
}

func BenchmarkForest(b *testing.B) {
	const n = 1_000_000
	θ, o := forestOf(n, 8), New()
	y, value, u := make([]int32, n), make([]float64, 1), new(structured.Marginals)
	b.Run("max", func(b *testing.B) {
		for b.Loop() {
			o.Max(θ, y, value)
		}
	})
	b.Run("exp", func(b *testing.B) {
		for b.Loop() {
			o.Exp(θ, 1, value, u)
		}
	})
}
