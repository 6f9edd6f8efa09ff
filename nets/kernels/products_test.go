package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Products with sums in float64 equal those of the definition to the rounding of float64, for sizes around whole tiles
// and vectors.
func TestProducts(t *testing.T) {
	for _, loops := range availableProducts() {
		for _, size := range [][3]int{{1, 1, 1}, {3, 2, 7}, {4, 3, 8}, {5, 9, 33}, {8, 2, 31}, {9, 5, 70},
			{130, 13, 65}, {67, 4, 0}, {0, 3, 5}} {
			rows, columns, k := size[0], size[1], size[2]
			t.Run(fmt.Sprint(loops.Name, size), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(k), 1))
				draw := func(n int) []float32 {
					x := make([]float32, n)
					for j := range x {
						x[j] = float32(rng.NormFloat64())
					}
					return x
				}
				x, w, v := draw(rows*k), draw(columns*k), draw(rows*columns)
				out := make([]float64, rows*columns)
				loops.Multiply(out, x, w, k)
				var some []int32
				for r := range rows {
					for c := range columns {
						want := 0.0
						for j := range k {
							want += float64(x[r*k+j]) * float64(w[c*k+j])
						}
						if math.Abs(out[r*columns+c]-want) > 1e-12*float64(k) {
							t.Fatalf("row %d, column %d: %v, want %v", r, c, out[r*columns+c], want)
						}
					}
					if r%3 != 1 {
						some = append(some, int32(r))
					}
				}
				var sum Outer
				sum.Reset(columns, k)
				for range 2 {
					sum.AddRows(loops, v, x, some, columns, k)
				}
				for c := range columns {
					for j := range k {
						want := 0.0
						for _, r := range some {
							want += 2 * float64(v[int(r)*columns+c]) * float64(x[int(r)*k+j])
						}
						if math.Abs(sum.Sum[c*k+j]-want) > 1e-11 {
							t.Fatalf("column %d, number %d: sum %v, want %v", c, j, sum.Sum[c*k+j], want)
						}
					}
				}
			})
		}
	}
}

// A row beyond the inputs panics instead of reading other memory.
func TestOuterRowOutOfRange(t *testing.T) {
	for _, loops := range availableProducts() {
		for _, row := range []int32{-1, 2} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: row %d of 2: no panic", loops.Name, row)
					}
				}()
				loops.outer(make([]float64, 80), make([]float64, 2), make([]float32, 80), []int32{row}, 40)
			}()
		}
	}
}

func BenchmarkProducts(b *testing.B) {
	const rows, columns, k = 512, 9, 384
	x, w, v := make([]float32, rows*k), make([]float32, columns*k), make([]float32, rows*columns)
	out, all := make([]float64, rows*columns), make([]int32, rows)
	for r := range all {
		all[r] = int32(r)
	}
	for _, loops := range availableProducts() {
		b.Run("multiply/"+loops.Name, func(b *testing.B) {
			for b.Loop() {
				loops.Multiply(out, x, w, k)
			}
			b.ReportMetric(rows*columns*k*float64(b.N)/1e9/b.Elapsed().Seconds(), "GMA/s")
		})
		b.Run("outer/"+loops.Name, func(b *testing.B) {
			var sum Outer
			for b.Loop() {
				sum.Reset(columns, k)
				sum.AddRows(loops, v, x, all, columns, k)
			}
			b.ReportMetric(rows*columns*k*float64(b.N)/1e9/b.Elapsed().Seconds(), "GMA/s")
		})
	}
}
