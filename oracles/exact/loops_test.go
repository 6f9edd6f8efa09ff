package exact

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkLoops times kernels that read rows which are no whole vectors.
func BenchmarkLoops(b *testing.B) {
	for _, k := range available {
		for _, y := range []int{3, 7, 17} {
			r, stride := rand.New(rand.NewPCG(uint64(y), 1)), (y+7)/8*8
			const rows = 32
			from, to := make([]float32, rows*y), make([]float64, rows*stride)
			for i := range from {
				from[i] = -r.Float32()
			}
			for name, f := range map[string]func(){
				"widen":    func() { k.widen(to, from, rows, y, stride, minusInf) },
				"exps":     func() { k.exps(to, from, rows, y, stride, 1) },
				"expsFrom": func() { k.expsFrom(to, from, rows, y, stride, 0, 1) },
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
