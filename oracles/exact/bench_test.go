package exact

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
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
	b.Run("exp in logarithms", func(b *testing.B) {
		for b.Loop() {
			o.Exp(θ, 0.01, value, u)
		}
	})
}

// smallTrees draws 4,096 random trees of 16 variables.
func smallTrees(labels int) *structured.Potentials {
	const trees, n = 4096, 16
	r := rand.New(rand.NewPCG(1, 2))
	θ, nodes := new(structured.Potentials), []int{0}
	var all []*structured.Graph
	for range trees {
		g := &structured.Graph{}
		for v := 1; v < n; v++ {
			g.Ends, g.Types = append(g.Ends, [2]int32{int32(r.IntN(v)), int32(v)}), append(g.Types, 0)
		}
		all, nodes = append(all, g), append(nodes, nodes[len(nodes)-1]+n)
	}
	θ.Reshape(graphs.Pairwise{Edges: graphs.Typed}.Form(labels, 1), nodes, func(string) []int { return nodes })
	θ.Graphs = all
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(r.NormFloat64())
		}
	}
	return θ
}

// BenchmarkSmallTrees compares trees with chains of the same size and label set.
func BenchmarkSmallTrees(b *testing.B) {
	θ := smallTrees(32)
	chained := new(structured.Potentials)
	chains.Resize(chained, θ.Outputs, 32, false)
	for k := range chained.Parts {
		copy(chained.Parts[k].Values, θ.Parts[k].Values)
	}
	y, value, u := make([]int32, θ.OutputSize()), make([]float64, θ.Len()), new(structured.Marginals)
	for _, c := range []struct {
		name string
		o    oracles.Oracle
		θ    *structured.Potentials
	}{{"trees", New(), θ}, {"chains", chain.New(), chained}} {
		b.Run(c.name+" max", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.o.Max(c.θ, y, value)
			}
			b.ReportMetric(float64(b.N*θ.OutputSize())/b.Elapsed().Seconds(), "variables/s")
		})
		b.Run(c.name+" exp", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.o.Exp(c.θ, 1, value, u)
			}
			b.ReportMetric(float64(b.N*θ.OutputSize())/b.Elapsed().Seconds(), "variables/s")
		})
	}
}
