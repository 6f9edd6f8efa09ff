package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// counted are parts of rows of a product that begin as the sum of their row and their column, and end one larger, with
// how often each entry is finished.
type counted struct {
	columns int
	times   []int
}

func newCounted(rows, columns int) *counted { return &counted{columns, make([]int, rows*columns)} }

func (c *counted) begin(part []float32, row, column int) {
	for j := range part {
		part[j] = float32(row + column + j)
	}
}

func (c *counted) finish(part []float32, row, column int) {
	for j := range part {
		c.times[row*c.columns+column+j]++
		part[j]++
	}
}

// once reports whether every entry was finished once.
func (c *counted) once() bool {
	return !slices.ContainsFunc(c.times, func(n int) bool { return n != 1 })
}

// A packed factor gives the product x·Wᵀ + s for sizes around those of tiles, panels and blocks, with every entry
// finished once, and the bits of a row do not depend on the other rows.
func TestFactor(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, source := range sources {
		for _, b := range source() {
			for _, size := range [][3]int{{1, 1, 1}, {3, 5, 7}, {8, 48, 16}, {9, 49, 513}, {17, 241, 30}, {40, 300, 1030},
				{2, 96, 384}, {11, 50, 1024}, {9, 20, 2048}} {
				t.Run(fmt.Sprint(b.Name(), size), func(t *testing.T) {
					m, n, k := size[0], size[1], size[2]
					x, w := gaussians(rng, m*k), gaussians(rng, n*k)
					f := &Factor{N: n, K: k, w: w}
					if p, ok := b.(factors); ok {
						p.pack(f)
					}
					stride, entries, scratch := n+3, newCounted(m, n), []float32(nil)
					c := make([]float32, m*stride)
					f.Times(b, m, x, c, stride, &scratch, nil, entries.begin, entries.finish)
					if !entries.once() {
						t.Fatal("not every entry is finished once")
					}
					for i := range m {
						for j := range n {
							want := 1 + float64(i+j)
							for l := range k {
								want += float64(x[i*k+l]) * float64(w[j*k+l])
							}
							if got := float64(c[i*stride+j]); math.Abs(got-want) > 3e-3 {
								t.Fatalf("entry %d, %d is %g, want %g", i, j, got, want)
							}
						}
						for j := n; j < stride; j++ {
							if c[i*stride+j] != 0 {
								t.Fatalf("the product writes behind row %d", i)
							}
						}
					}
					bias, plain, same := gaussians(rng, n), make([]float32, m*stride), make([]float32, m*stride)
					f.Times(b, m, x, plain, stride, &scratch, bias, nil, nil)
					f.Times(b, m, x, same, stride, &scratch, nil, func(part []float32, _, column int) {
						copy(part, bias[column:])
					}, nil)
					if !slices.Equal(plain, same) {
						t.Fatal("a bias is not what rows that start as the bias give")
					}
					if !f.RowByRow() {
						return
					}
					one := make([]float32, n)
					for i := range m {
						begin := func(part []float32, _, column int) { entries.begin(part, i, column) }
						f.Times(b, 1, x[i*k:(i+1)*k], one, n, &scratch, nil, begin, entries.finish)
						if !slices.Equal(one, c[i*stride:i*stride+n]) {
							t.Fatalf("row %d has other bits alone", i)
						}
					}
				})
			}
		}
	}
}
