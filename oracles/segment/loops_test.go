package segment

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkLoops times the kernels of transitions between segments.
func BenchmarkLoops(b *testing.B) {
	for _, k := range available {
		for _, labels := range []int{5, 10, 40} {
			r, stride := rand.New(rand.NewPCG(uint64(labels), 1)), (labels+7)/8*8
			x, bound, p, to, m, edges := make([]float64, stride), make([]float64, stride), make([]float64, stride),
				make([]float64, stride),
				make([]float64, labels*stride), make([]float64, labels*stride)
			for i := range labels {
				x[i], bound[i], p[i] = r.Float64(), 3, r.Float64()
				for j := range labels {
					m[i*stride+j] = r.Float64()
				}
			}
			for name, f := range map[string]func(){
				"spreadSteps":   func() { k.spreadSteps(to, edges, x, m, bound, p, labels) },
				"weigh":         func() { k.weigh(to, x, m, labels) },
				"spreadWeights": func() { k.spreadWeights(to, edges, x, m, p, labels) },
			} {
				b.Run(fmt.Sprintf("%s/%s/%d", k.name, name, labels), func(b *testing.B) {
					for b.Loop() {
						f()
					}
				})
			}
		}
	}
}
