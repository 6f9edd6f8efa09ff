package selftest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/cuda"
)

func (g *rig) productChecks() []Check {
	return []Check{
		{"matrix products, float32", g.products(false)},
		{"matrix products, TF32", g.products(true)},
	}
}

// products compares matrix products of odd sizes, transposed or not, in batches and with long sums, with plain loops: those in use,
// and the kernels where a library is in use.
func (g *rig) products(rounded bool) func(context.Context, *rand.Rand, *worst) (string, error) {
	tolerance := single
	if rounded {
		tolerance = tf32
	}
	return func(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
		used, own := cuda.NewBLAS(g.Device, rounded), cuda.NewOwnBLAS(g.Device, rounded)
		defer used.Close()
		defer own.Close()
		each := []*cuda.BLAS{own}
		if used.Name() != own.Name() {
			each = append(each, used)
		}
		for _, s := range each {
			for _, size := range []productSize{ // for the last three the three tiles are the best
				{1, 1, 1, 2}, {3, 5, 7, 2}, {64, 128, 32, 1}, {65, 129, 33, 1}, {130, 26, 128, 1}, {200, 25, 0, 1},
				{g.pick(300, 12), g.pick(200, 9), g.pick(20000, 1000), 1}, {g.pick(20000, 300), g.pick(200, 130), g.pick(300, 40), 1},
				{16, 16, 16, 1000}, {128, 128, 16, 264}, {128, 32, 8, 300},
			} {
				for form := range 8 {
					if err := ctx.Err(); err != nil {
						return "", err
					}
					if g.small && form > 0 && size.m*size.n*size.k*size.batch > 1000000 {
						continue
					}
					if err := g.product(s, r, w, size, form, tolerance); err != nil {
						return "", fmt.Errorf("%s: %+v, form %d: %w", s.Name(), size, form, err)
					}
				}
			}
		}
		return "", nil
	}
}

// productSize is of a batch of products m×k·k×n.
type productSize struct{ m, n, k, batch int }

// product does a batch of products twice: the bits must be the same. More than two are of the same matrices. Errors are relative to the sum
// of the terms' absolute values.
func (g *rig) product(s *cuda.BLAS, r *rand.Rand, w *worst, size productSize, form int, tolerance float64) error {
	m, n, k, batch := size.m, size.n, size.k, size.batch
	transX, transY, beta := form&1 != 0, form&2 != 0, float32(form>>2)
	strideX, strideY := m*k, k*n
	copies := batch // that differ
	if batch > 2 {
		strideX, strideY, copies = 0, 0, 1
	}
	x, y, c := normals(r, copies*m*k), normals(r, copies*k*n), slices.Repeat(normals(r, copies*m*n), batch/copies)
	if beta == 0 {
		for i := range c {
			c[i] = float32(math.NaN())
		}
	}
	onX, onY, onC := upload(g, x), upload(g, y), upload(g, c)
	defer cuda.Free(g.Device, onX)
	defer cuda.Free(g.Device, onY)
	defer cuda.Free(g.Device, onC)
	s.Sgemm(transX, transY, m, n, k, onX, onY, beta, onC, batch, strideX, strideY, m*n)
	got := download(g, onC)
	cuda.Upload(g.Device, onC, c)
	s.Sgemm(transX, transY, m, n, k, onX, onY, beta, onC, batch, strideX, strideY, m*n)
	again := download(g, onC)
	if err := g.Sync(); err != nil {
		return err
	}
	if beta == 0 {
		clear(c)
	}
	var want, terms []float64
	for z := range batch {
		if z < copies {
			x, y, c := x[z*m*k:(z+1)*m*k], y[z*k*n:(z+1)*k*n], c[z*m*n:(z+1)*m*n]
			want = product(transX, transY, m, n, k, x, y, beta, c)
			terms = product(transX, transY, m, n, k, absolute(x), absolute(y), beta, absolute(c))
		}
		for i, v := range want {
			at := z*m*n + i
			if math.Float32bits(got[at]) != math.Float32bits(again[at]) {
				return fmt.Errorf("entry %d is %v, and %v the second time", at, got[at], again[at])
			}
			w.compare++
			e := abs(float64(got[at])-v) / max(terms[i], 1e-30)
			if !(e <= tolerance) {
				return fmt.Errorf("entry %d is %v, want %v", at, got[at], v)
			}
			w.error = max(w.error, e)
		}
	}
	return nil
}

func absolute(x []float32) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(abs(float64(v)))
	}
	return y
}
