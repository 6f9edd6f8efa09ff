package tree

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Sentences per second at several lengths: time grows like n³, like n² for the non-projective Max.
func BenchmarkTrees(b *testing.B) {
	solvers := []struct {
		name string
		s    solver
	}{{"projective", new(Projective)}, {"nonprojective", new(NonProjective)}}
	for _, s := range solvers {
		for _, n := range []int{10, 25, 50, 100} {
			const sentences = 64
			r := rand.New(rand.NewPCG(1, 2))
			arcs := make([][]float32, sentences)
			for i := range arcs {
				arcs[i] = normal(r, n, 1)
			}
			heads, score, marginals := make([]int32, 5*n), make([]float64, 5), make([]float32, n*n)
			run := func(what string, solve func(arc []float32)) {
				b.Run(fmt.Sprintf("%s/%s/n=%d", s.name, what, n), func(b *testing.B) {
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						solve(arcs[i%sentences])
					}
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sentences/s")
				})
			}
			run("max", func(arc []float32) { s.s.Max(arc, n, heads) })
			run("top-5", func(arc []float32) { s.s.TopK(arc, n, 5, heads, score) })
			run("exp", func(arc []float32) { s.s.Exp(arc, n, 1, marginals) })
		}
	}
}
