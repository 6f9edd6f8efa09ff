package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// rowsOf draws rows of n numbers that lie apart in memory, with NaN between them.
func rowsOf(rng *rand.Rand, rows, n int) [][]float32 {
	all := make([][]float32, rows)
	for r := range all {
		row := make([]float32, n+2)
		row[0], row[n+1] = float32(math.NaN()), float32(math.NaN())
		for j := range n {
			row[1+j] = float32(rng.NormFloat64())
		}
		all[r] = row[1 : 1+n : 1+n]
	}
	return all
}

// Products equal those of the definition, for widths around whole vectors and numbers of rows around those taken at a
// time. A row gets the same bits whatever the others are.
func TestDenseLoops(t *testing.T) {
	for _, loops := range AvailableDense() {
		for y := 1; y <= 70; y++ {
			for _, rows := range []int{0, 1, 2, 3, 4, 5, 9} {
				dim := []int{1, 3, 16, 37}[(y+rows)%4]
				rng := rand.New(rand.NewPCG(uint64(y), uint64(rows)))
				z, v, w := rowsOf(rng, rows, dim), rowsOf(rng, rows, y), rowsOf(rng, 1, dim*y)[0]
				score, wide := make([][]float32, rows), make([][]float64, rows)
				want, pulled, exact := make([][]float64, rows), make([]float64, dim*y), make([][]float64, rows)
				for r := range rows {
					for _, x := range v[r] {
						exact[r] = append(exact[r], float64(x)+1e-9)
					}
					score[r], wide[r], want[r] = make([]float32, y), make([]float64, y), make([]float64, y)
					for j := range y {
						score[r][j], wide[r][j], want[r][j] = 2, 2, 2
						for d := range dim {
							want[r][j] += float64(z[r][d]) * float64(w[d*y+j])
							pulled[d*y+j] += float64(z[r][d]) * exact[r][j]
						}
					}
				}
				single, double := make([]float32, dim*y), make([]float64, dim*y)
				loops.Score(score, z, w)
				loops.ScoreDouble(wide, z, w)
				loops.Pull(single, z, v)
				loops.PullDouble(double, z, exact)
				what := fmt.Sprintf("%s, %d rows of %d numbers, width %d", loops.Name, rows, dim, y)
				for r := range rows {
					for j := range y {
						if math.Abs(float64(score[r][j])-want[r][j]) > 1e-4 || math.Abs(wide[r][j]-want[r][j]) > 1e-12 {
							t.Fatalf("%s: score %v and %v, want %v", what, score[r][j], wide[r][j], want[r][j])
						}
					}
					alone := [][]float32{make([]float32, y)}
					for j := range y {
						alone[0][j] = 2
					}
					loops.Score(alone, z[r:r+1], w)
					if !slices.Equal(alone[0], score[r]) {
						t.Fatalf("%s: row %d alone has other bits", what, r)
					}
				}
				for k, x := range pulled {
					if math.Abs(float64(single[k])-x) > 1e-4 || math.Abs(double[k]-x) > 1e-12 {
						t.Fatalf("%s: pulled %v and %v, want %v", what, single[k], double[k], x)
					}
				}
				again, from := make([]float32, dim*y), min(rows, 3)
				loops.Pull(again, z[:from], v[:from])
				loops.Pull(again, z[from:], v[from:])
				if !slices.Equal(again, single) {
					t.Fatalf("%s: rows pulled in two calls give other bits", what)
				}
			}
		}
	}
}

// The passes over 2000 rows of 384 numbers.
func BenchmarkDense(b *testing.B) {
	for _, loops := range AvailableDense() {
		for _, y := range []int{9, 13, 22} {
			rng := rand.New(rand.NewPCG(1, 1))
			z, v, w := rowsOf(rng, 2000, 384), rowsOf(rng, 2000, y), rowsOf(rng, 1, 384*y)[0]
			wide, double := make([][]float64, len(v)), make([]float64, len(w))
			for r := range wide {
				wide[r] = make([]float64, y)
			}
			for name, f := range map[string]func(){
				"score":       func() { loops.Score(v, z, w) },
				"pull":        func() { loops.Pull(w, z, v) },
				"scoreDouble": func() { loops.ScoreDouble(wide, z, w) },
				"pullDouble":  func() { loops.PullDouble(double, z, wide) },
			} {
				b.Run(fmt.Sprintf("%s/%s/%d", loops.Name, name, y), func(b *testing.B) {
					for b.Loop() {
						f()
					}
				})
			}
		}
	}
}
