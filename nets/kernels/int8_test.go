package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// int8Sizes are numbers of rows, of columns and of entries around those of tiles, groups and blocks.
var int8Sizes = [][3]int{
	{1, 1, 1}, {3, 5, 7}, {4, 24, 16}, {8, 48, 16}, {9, 49, 513}, {17, 241, 30}, {40, 300, 1030}, {2, 96, 384},
	{11, 50, 1024}, {5, 700, 2048},
}

// A product of rounded numbers is as close to x·Wᵀ + s as their steps allow: an entry of x is off by half a step a/2,
// one of W by b/2.
func TestInt8Factor(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, size := range int8Sizes {
		m, n, k := size[0], size[1], size[2]
		x, w := gaussians(rng, m*k), gaussians(rng, n*k)
		var expected []float32
		for _, loops := range availableInt8() {
			t.Run(fmt.Sprint(loops.name, size), func(t *testing.T) {
				f, rows := newInt8Factor(loops, w, n, k), new(Int8Rows)
				rows.round(loops, x, m, k)
				stride, entries := n+3, newCounted(m, n)
				c := make([]float32, m*stride)
				f.Times(rows, m, c, stride, nil, entries.begin, entries.finish)
				if !entries.once() {
					t.Fatal("not every entry is finished once")
				}
				for i := range m {
					for j := range n {
						xi, wj := x[i*k:(i+1)*k], w[j*k:(j+1)*k]
						a, b := magnitude(xi)/127, magnitude(wj)/63
						want, bound := 1+float64(i+j), 1e-3
						for l := range k {
							want += float64(xi[l]) * float64(wj[l])
							bound += a/2*math.Abs(float64(wj[l])) + b/2*math.Abs(float64(xi[l])) + a*b/4
						}
						if got := float64(c[i*stride+j]); !(math.Abs(got-want) <= bound) {
							t.Fatalf("entry %d, %d is %g, want %g within %g", i, j, got, want, bound)
						}
					}
					if !slices.Equal(c[i*stride+n:(i+1)*stride], []float32{0, 0, 0}) {
						t.Fatalf("the product writes behind row %d", i)
					}
				}
				if expected == nil {
					expected = c
				}
				if !slices.Equal(c, expected) {
					t.Fatal("other bits than the first loops")
				}
				bias, plain, same := gaussians(rng, n), make([]float32, m*stride), make([]float32, m*stride)
				f.Times(rows, m, plain, stride, bias, nil, nil)
				f.Times(rows, m, same, stride, nil, func(part []float32, _, column int) { copy(part, bias[column:]) }, nil)
				if !slices.Equal(plain, same) {
					t.Fatal("a bias is not what rows that start as the bias give")
				}
				f.Times(rows, m, plain, stride, nil, nil, nil)
				f.Times(rows, m, same, stride, make([]float32, n), nil, nil)
				if !slices.Equal(plain, same) {
					t.Fatal("without a bias, a product has something of the one before")
				}
				f.Times(rows, m, plain, stride, bias, nil, nil)
				one := make([]float32, n)
				for i := range m {
					rows.round(loops, x[i*k:(i+1)*k], 1, k)
					f.Times(rows, 1, one, n, bias, nil, nil)
					if !slices.Equal(one, plain[i*stride:i*stride+n]) {
						t.Fatalf("row %d has other bits alone", i)
					}
				}
			})
		}
	}
}

func magnitude(x []float32) float64 {
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(float64(v)))
	}
	return largest
}

// Integers of the largest magnitudes give exact sums: no loops saturate.
func TestInt8Extremes(t *testing.T) {
	const m, n, k = 8, 48, WidestInt8
	for _, loops := range availableInt8() {
		for _, sign := range []float32{1, -1} {
			x, w, c := make([]float32, m*k), make([]float32, n*k), make([]float32, m*n)
			for i := range x {
				x[i] = sign * 127
			}
			for i := range w {
				w[i] = 63
			}
			f, rows := newInt8Factor(loops, w, n, k), new(Int8Rows)
			rows.round(loops, x, m, k)
			f.Times(rows, m, c, n, nil, nil, nil)
			for _, got := range c {
				if got != sign*127*63*k {
					t.Fatalf("%s: %g, want %g", loops.name, got, sign*127*63*k)
				}
			}
		}
	}
}

// Rows of zeros, of numbers whose steps cannot be represented, and of numbers that are not finite do not become other
// numbers, and do not touch the rows beside them.
func TestInt8Rows(t *testing.T) {
	const k = 40
	w := make([]float32, k)
	for i := range w {
		w[i] = 1
	}
	for _, loops := range availableInt8() {
		nan := float32(math.NaN())
		for _, c := range []struct{ x, want float32 }{
			{0, 0}, {1, k}, {-2, -2 * k}, {1e-45, 0}, {1e30, k * 1e30}, {nan, nan}, {float32(math.Inf(-1)), nan},
		} {
			x := make([]float32, 3*k)
			for i := range x {
				x[i] = 1
			}
			for at := k; at < 2*k; at += 3 { // also where only rests are looked at
				x[at] = c.x
				if c.x == c.x && !math.IsInf(float64(c.x), 0) {
					for i := range k {
						x[k+i] = c.x
					}
				}
			}
			f, rows, got := newInt8Factor(loops, w, 1, k), new(Int8Rows), make([]float32, 3)
			rows.round(loops, x, 3, k)
			f.Times(rows, 3, got, 1, nil, nil, nil)
			equal := math.Abs(float64(got[1]-c.want)) <= 1e-6*math.Abs(float64(c.want)) || got[1] != got[1] && c.want != c.want
			if !equal || got[0] != got[2] || math.Abs(float64(got[0]-k)) > 1e-4 {
				t.Errorf("%s: rows of %g: %g, want %g", loops.name, c.x, got, c.want)
			}
		}
	}
}

func BenchmarkInt8Factor(b *testing.B) {
	rng := rand.New(rand.NewPCG(8, 8))
	const m = 512
	for _, size := range [][2]int{{384, 384}, {1536, 384}, {384, 1536}} {
		n, k := size[0], size[1]
		x, w, c := gaussians(rng, m*k), gaussians(rng, n*k), make([]float32, m*n)
		for _, loops := range availableInt8() {
			b.Run(fmt.Sprint(loops.name, " ", n, "×", k), func(b *testing.B) {
				f, rows := newInt8Factor(loops, w, n, k), new(Int8Rows)
				for b.Loop() {
					rows.round(loops, x, m, k)
					f.Times(rows, m, c, n, nil, nil, nil)
				}
			})
		}
		for _, p := range ownBLAS() {
			b.Run(fmt.Sprint(p.Name(), " ", n, "×", k), func(b *testing.B) {
				f := &Factor{N: n, K: k, w: w}
				p.(factors).pack(f)
				for b.Loop() {
					f.Times(p, m, x, c, n, nil, nil, nil, nil)
				}
			})
		}
	}
}
