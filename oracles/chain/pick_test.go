package chain

import (
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/seeds"
)

// Picks of products are those of oracles.Pick, from their rows and from columns, to the last number and beyond the sum,
// with zeros among the weights.
func TestPicks(t *testing.T) {
	r := seeds.Rand(t)
	for _, y := range []int{1, 2, 9, 31, 32, 33, 64, 100} {
		x, w, columns, products := make([]float32, y), make([]float32, y), make([]float32, 3*y), make([]float64, y)
		for range 200 {
			sum := 0.0
			for i := range y {
				x[i], w[i] = r.Float32(), float32(r.IntN(3))
				columns[3*i] = w[i]
				products[i] = float64(x[i]) * float64(w[i])
				sum += products[i]
			}
			for _, at := range []float64{0, r.Float64() * sum, sum, 2 * sum} {
				want := int32(oracles.Pick(products, at))
				if got, column := pickProduct(x, w, at), pickColumn(x, columns, 3, at); got != want || column != want {
					t.Fatalf("%d weights, %v of %v: %d, from a column %d, want %d", y, at, sum, got, column, want)
				}
			}
		}
	}
}
