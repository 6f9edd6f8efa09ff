package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// ToGrid keeps what it promises, judged in exact arithmetic: each number is a multiple of the grid, no further than
// half of one from where it was or the least that is not below c·least, and the sums are those of what has moved. All
// loops give the same bits.
func TestToGrid(t *testing.T) {
	every(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for n := range 70 {
			c := float64(float32(math.Exp(r.NormFloat64())))
			u, gold := make([]float64, n), 0
			if n > 0 {
				gold = r.IntN(n)
			}
			x, least, θ := make([]float32, n), make([]float32, n), random(r, n)
			total := 0.0
			for i := range u {
				u[i] = math.Exp(6 * r.NormFloat64())
				total += u[i]
			}
			for i := range x {
				x[i] = float32(c * u[i] / total)
				if i == gold {
					least[i] = -1
					x[i] = float32(c * (u[i]/total - 1))
				}
				if x[i] == 0 && least[i] == 0 {
					θ[i] = float32(math.Inf(-1)) // forbidden
				}
			}
			grid := 1.
			if n > 0 {
				_, e := math.Frexp(float64(Largest(x)))
				grid = math.Ldexp(1, e-23)
			}
			before := slices.Clone(x)
			got := ToGrid(grid, c, least, θ, x)
			if want := slices.Clone(before); got != toGrid(grid, c, least, θ, want) || !slices.Equal(want, x) {
				t.Fatalf("%d numbers: others than on one lane", n)
			}
			var sum, moved, linear big.Float
			lost := 0.0
			for i, v := range x {
				if q := float64(v) / grid; q != math.Trunc(q) {
					t.Fatalf("%g is no multiple of %g", v, grid)
				}
				floor, δ := c*float64(least[i]), math.Abs(float64(v)-float64(before[i]))
				if float64(v) < floor || δ > grid/2 && float64(v)-floor >= grid {
					t.Fatalf("%g becomes %g with the grid %g and at least %g", before[i], v, grid, floor)
				}
				sum.Add(&sum, big.NewFloat(float64(v)))
				moved.Add(&moved, big.NewFloat(δ))
				if δ == 0 {
					continue
				}
				linear.Add(&linear, big.NewFloat((float64(v)-float64(before[i]))*float64(θ[i])))
				lost += min(δ*δ/math.Max(float64(before[i])-floor, tiniest), 35*δ)
			}
			for what, pair := range map[string][2]float64{
				"Sum": {got.Sum, number(&sum)}, "Moved": {got.Moved, number(&moved)}, "Linear": {got.Linear, number(&linear)},
				"Lost": {got.Lost, lost},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-12*(math.Abs(pair[1])+got.Moved) {
					t.Fatalf("%s of %d is %g, expected %g", what, n, pair[0], pair[1])
				}
			}
		}
	})
}

func number(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

// Narrow rounds each product once, and its sums are of products before that.
func TestNarrow(t *testing.T) {
	every(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for n := range 70 {
			x, w, to := make([]float64, n), random(r, n), make([]float32, n)
			a := r.NormFloat64()
			var dot, sizes big.Float
			for i := range x {
				x[i] = r.NormFloat64()
				p := big.NewFloat(a * x[i])
				p.Mul(p, big.NewFloat(float64(w[i])))
				dot.Add(&dot, p)
				sizes.Add(&sizes, p.Abs(p))
			}
			d, s := Narrow(a, x, w, to)
			plain := make([]float32, n)
			if e, f := narrow(a, x, w, plain); d != e || s != f || !slices.Equal(plain, to) {
				t.Fatalf("%d numbers: others than on one lane", n)
			}
			for i := range to {
				if to[i] != float32(a*x[i]) {
					t.Fatalf("number %d of %d is %g, expected %g", i, n, to[i], a*x[i])
				}
			}
			if math.Abs(d-number(&dot)) > 1e-14*s || math.Abs(s-number(&sizes)) > 1e-14*s {
				t.Fatalf("sums of %d are %g and %g, expected %g and %g", n, d, s, number(&dot), number(&sizes))
			}
		}
	})
}

// A row of 17 labels, as a certificate rounds it for every token.
func BenchmarkToGrid(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x, least, θ := random(r, 17), make([]float32, 17), random(r, 17)
	row := make([]float32, len(x))
	for b.Loop() {
		copy(row, x)
		ToGrid(0x1p-22, 1, least, θ, row)
	}
}

// A gradient that fits in no cache.
func BenchmarkNarrow(b *testing.B) {
	x, w, to := make([]float64, 4<<20), make([]float32, 4<<20), make([]float32, 4<<20)
	b.SetBytes(int64(len(x)) * 16)
	for b.Loop() {
		Narrow(0.1, x, w, to)
	}
}
