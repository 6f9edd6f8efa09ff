package chain

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkLoops times kernels whose results are single numbers, or which read rows that are no whole vectors.
func BenchmarkLoops(b *testing.B) {
	for _, k := range available {
		for _, y := range []int{9, 17, 51} {
			r, stride := rand.New(rand.NewPCG(uint64(y), 1)), (y+15)/16*16
			m, prev, next := make([]float32, y*stride), make([]float32, stride), make([]float32, stride)
			mDouble, prevDouble, nextDouble := make([]float64, y*stride), make([]float64, stride), make([]float64, stride)
			edge, score, w := make([]float32, y*y+16), make([]float64, stride), make([]float32, stride)
			for i := range y {
				prev[i], prevDouble[i], score[i], w[i] = r.Float32(), r.Float64(), r.NormFloat64(), r.Float32()
				for j := range y {
					m[i*stride+j], mDouble[i*stride+j], edge[i*y+j] = r.Float32(), r.Float64(), -r.Float32()
				}
			}
			for i := y; i < stride; i++ {
				score[i] = -1e300
			}
			for name, f := range map[string]func(){
				"matDots":       func() { k.single.matDots(next, prev, m, y) },
				"matDotsDouble": func() { k.double.matDots(nextDouble, prevDouble, mDouble, y) },
				"expsDouble":    func() { k.double.exps(mDouble, edge, y, y, stride, 0, 1) },
				"logSum":        func() { k.logSum(edge[:stride], score, w, 1) },
			} {
				b.Run(fmt.Sprintf("%s/%s/%d", k.name, name, y), func(b *testing.B) {
					for b.Loop() {
						f()
					}
				})
			}
		}
	}
}
