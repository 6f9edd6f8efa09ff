package tree

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Sentences per second at several lengths: time grows like n³, or like n² for the non-projective Max.
func BenchmarkTrees(b *testing.B) {
	solvers := []struct {
		name string
		s    solver
	}{{"projective", new(Projective)}, {"nonprojective", new(NonProjective)}}
	for _, s := range solvers {
		for _, n := range []int{10, 25, 50, 100} {
			const sentences = 64
			r := rand.New(rand.NewPCG(1, 2))
			arcs, summed := make([][]float32, sentences), make([][]float64, sentences)
			for i := range arcs {
				arcs[i] = normal(r, n, 1)
				summed[i] = doubles(arcs[i])
			}
			heads, score, marginals := make([]int32, 5*n), make([]float64, 5), make([]float32, n*n)
			run := func(what string, solve func(i int)) {
				b.Run(fmt.Sprintf("%s/%s/n=%d", s.name, what, n), func(b *testing.B) {
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						solve(i % sentences)
					}
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sentences/s")
				})
			}
			run("max", func(i int) { s.s.Max(arcs[i], n, heads) })
			run("top-5", func(i int) { s.s.TopK(arcs[i], n, 5, heads, score) })
			run("exp", func(i int) { s.s.Exp(summed[i], n, 1, marginals) })
		}
	}
}
