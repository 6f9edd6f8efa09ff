package selftest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/cuda/device"
)

func (g *rig) productChecks() []Check {
	return []Check{
		{"matrix products, float32", g.products(false)},
		{"matrix products, TF32", g.products(true)},
		{"matrix products of rows in place", g.rowProducts},
	}
}

// products compares matrix products with plain loops: odd sizes, transposed or not, in batches and with long sums. It
// checks the kernels and, if a library is in use, the library.
func (g *rig) products(rounded bool) func(context.Context, *rand.Rand, *worst) (string, error) {
	tolerance := single
	if rounded {
		tolerance = tf32
	}
	return func(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
		used, own := device.NewBLAS(g.Device, rounded), device.NewOwnBLAS(g.Device, rounded)
		defer used.Close()
		defer own.Close()
		each := []*device.BLAS{own}
		if used.Name() != own.Name() {
			each = append(each, used)
		}
		for _, s := range each {
			for _, size := range []productSize{ // each of the last three selects another tile size
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

// productSize is the size of a batch of products m×k·k×n.
type productSize struct{ m, n, k, batch int }

// product computes a batch of products twice and requires equal bits. A batch of more than two repeats one product and
// requires equal bits, too.
func (g *rig) product(s *device.BLAS, r *rand.Rand, w *worst, size productSize, form int, tolerance float64) error {
	m, n, k, batch := size.m, size.n, size.k, size.batch
	f := factors{transX: form&1 != 0, transY: form&2 != 0, m: m, n: n, k: k, beta: float32(form >> 2)}
	strideX, strideY := m*k, k*n
	copies := batch // different products in the batch
	if batch > 2 {
		strideX, strideY, copies = 0, 0, 1
	}
	x, y, c := normals(r, copies*m*k), normals(r, copies*k*n), slices.Repeat(normals(r, copies*m*n), batch/copies)
	if f.beta == 0 {
		for i := range c {
			c[i] = float32(math.NaN())
		}
	}
	onX, onY, onC := upload(g, x), upload(g, y), upload(g, c)
	defer device.Free(g.Device, onX)
	defer device.Free(g.Device, onY)
	defer device.Free(g.Device, onC)
	var got [2][]float32
	for i := range got {
		device.Upload(g.Device, onC, c)
		s.Sgemm(f.transX, f.transY, m, n, k, onX, onY, f.beta, onC, batch, strideX, strideY, m*n)
		got[i] = download(g, onC)
	}
	if err := g.Sync(); err != nil {
		return err
	}
	bits := func(z int, got []float32) []float32 { return got[z*m*n : (z+1)*m*n] }
	for z := range batch {
		if !slices.Equal(bits(z, got[0]), bits(z, got[1])) || z >= copies && !slices.Equal(bits(z, got[0]), bits(0, got[0])) {
			return fmt.Errorf("matrix %d of the batch is not reproducible, or NaN", z)
		}
	}
	for z := range copies {
		f.x, f.y, f.c = x[z*m*k:(z+1)*m*k], y[z*k*n:(z+1)*k*n], bits(z, c)
		if err := f.compare(r, w, bits(z, got[0]), tolerance); err != nil {
			return err
		}
	}
	return nil
}

// rowProducts requires products that read their rows from a larger matrix to have the bits of products of the gathered
// rows.
func (g *rig) rowProducts(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
	for _, rounded := range []bool{false, true} {
		s := device.NewOwnBLAS(g.Device, rounded)
		defer s.Close()
		for _, size := range []productSize{ // each of the last three selects another tile size
			{65, 30, 33, 1}, {12, 9, 3000, 1}, {33792, 32, 4, 1}, {33792, 64, 4, 1}, {16896, 128, 4, 1},
		} {
			for form := range 4 {
				if err := ctx.Err(); err != nil {
					return "", err
				}
				if g.small && form > 0 && size.m*size.n*size.k > 1000000 {
					continue
				}
				if err := g.rowProduct(s, r, w, size, form); err != nil {
					return "", fmt.Errorf("%s: %+v, form %d: %w", s.Name(), size, form, err)
				}
			}
		}
	}
	return "", nil
}

func (g *rig) rowProduct(s *device.BLAS, r *rand.Rand, w *worst, size productSize, form int) error {
	m, n, k, transX, transY := size.m, size.n, size.k, form&1 != 0, form&2 != 0
	rows, width := m, k
	if transX {
		rows, width = k, m
	}
	large := rows/2 + 1
	from, source, gathered := normals(r, large*width), make([]int32, rows), make([]float32, rows*width)
	for i := range source {
		source[i] = int32(r.IntN(large+1)) - 1 // −1: zeros
		if at := int(source[i]) * width; at >= 0 {
			copy(gathered[i*width:(i+1)*width], from[at:])
		}
	}
	onFrom, onX, onY, at := upload(g, from), upload(g, gathered), upload(g, normals(r, k*n)), device.NewFrom(g.Device, source, "rows")
	got, want := device.New[float32](g.Device, m*n, "a product"), device.New[float32](g.Device, m*n, "a product")
	defer func() {
		for _, x := range []device.Array[float32]{onFrom, onX, onY, got, want} {
			device.Free(g.Device, x)
		}
		device.Free(g.Device, at)
	}()
	s.SgemmRows(transX, transY, m, n, k, onFrom, at, onY, 0, got, nil)
	s.Sgemm(transX, transY, m, n, k, onX, onY, 0, want, 1, 0, 0, 0)
	w.compare += m * n
	if inPlace, apart := download(g, got), download(g, want); !slices.Equal(inPlace, apart) {
		return errors.New("rows in place give other bits than gathered rows")
	}
	return g.Sync()
}

// factors are the operands of a product op(X)·op(Y) + β·C.
type factors struct {
	transX, transY bool
	m, n, k        int
	x, y, c        []float32
	beta           float32
}

// compare compares all entries of a product, or a sample that keeps the CPU's time in bounds. Errors are relative to
// the sum of the terms' absolute values.
func (f *factors) compare(r *rand.Rand, w *worst, got []float32, tolerance float64) error {
	const most = 4_000_000 // products of entries
	all := f.m * f.n
	count := min(all, most/max(f.k, 1))
	for e := range count {
		if count < all {
			e = r.IntN(all)
		}
		want, size := f.entry(e/f.n, e%f.n)
		w.compare++
		apart := abs(float64(got[e])-want) / max(size, 1e-30)
		if !(apart <= tolerance) {
			return fmt.Errorf("entry %d, %d is %v, want %v", e/f.n, e%f.n, got[e], want)
		}
		w.error = max(w.error, apart)
	}
	return nil
}

// entry returns an entry and the sum of its terms' absolute values.
func (f *factors) entry(i, j int) (sum, size float64) {
	if f.beta != 0 {
		sum = float64(f.beta) * float64(f.c[i*f.n+j])
		size = abs(sum)
	}
	for l := range f.k {
		a, b := i*f.k+l, l*f.n+j
		if f.transX {
			a = l*f.m + i
		}
		if f.transY {
			b = j*f.k + l
		}
		term := float64(f.x[a]) * float64(f.y[b])
		sum, size = sum+term, size+abs(term)
	}
	return sum, size
}
