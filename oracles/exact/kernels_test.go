package exact

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Exponentials err by at most what their kernels state.
func TestExpErrors(t *testing.T) {
	const n = 1 << 10
	for _, k := range available {
		t.Run(k.name, func(t *testing.T) {
			r, from, to := rand.New(rand.NewPCG(1, 1)), make([]float32, n), make([]float64, n)
			worst := 0.0
			for round := range 200 {
				for i := range from {
					from[i] = -700 * r.Float32()
					if round%2 == 0 {
						from[i] = -float32(math.Exp(6 - 20*r.Float64()))
					}
				}
				k.expsFrom(to, from, 1, n, n, 0, 1)
				for i, x := range from {
					worst = max(worst, math.Abs(to[i]/math.Exp(float64(x))-1))
				}
			}
			if worst > k.expError {
				t.Errorf("exponentials err by %g, bound %g", worst, k.expError)
			}
		})
	}
}
