package device_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
)

// product is an instance of Sgemm.
type product struct {
	transA, transB   bool
	m, n, k, batch   int
	skipA, skipB     int // entries before A and B, which misalign them
	gapA, gapB, gapC int // entries between the matrices of a batch
	beta             float32
}

func (p product) String() string {
	type plain product
	return fmt.Sprintf("%+v", plain(p))
}

func (p product) strides() (a, b, c int) { return p.m*p.k + p.gapA, p.k*p.n + p.gapB, p.m*p.n + p.gapC }

// check compares a product with plain loops in float64, and with a second run. The error is relative to the sum of the
// absolute terms.
func (p product) check(t testing.TB, d *device.Device, s *device.BLAS, tolerance float64) {
	r := rand.New(rand.NewPCG(1, uint64(p.m+p.n+p.k)))
	strideA, strideB, strideC := p.strides()
	a, b, c := normal(r, p.skipA+strideA*p.batch), normal(r, p.skipB+strideB*p.batch), normal(r, strideC*p.batch)
	if p.beta == 0 {
		for i := range c {
			c[i] = float32(math.NaN())
		}
	}
	onA, onB, onC := upload(d, a), upload(d, b), upload(d, c)
	defer func() { device.Free(d, onA); device.Free(d, onB); device.Free(d, onC) }()
	var got [2][]float32
	for i := range got {
		device.Upload(d, onC, c)
		s.Sgemm(p.transA, p.transB, p.m, p.n, p.k, onA.Slice(p.skipA, len(a)), onB.Slice(p.skipB, len(b)), p.beta, onC,
			p.batch, strideA, strideB, strideC)
		got[i] = make([]float32, len(c))
		device.Download(d, got[i], onC)
	}
	if err := d.Sync(); err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	for i := range got[0] {
		if math.Float32bits(got[0][i]) != math.Float32bits(got[1][i]) {
			t.Fatalf("%v: entry %d is %v, and %v the second time", p, i, got[0][i], got[1][i])
		}
	}
	for z := range p.batch {
		for i := range p.m {
			for j := range p.n {
				at := z*strideC + i*p.n + j
				want, size := 0., 1e-30
				if p.beta != 0 {
					want, size = float64(p.beta)*float64(c[at]), math.Abs(float64(c[at]))
				}
				for l := range p.k {
					x, y := i*p.k+l, l*p.n+j
					if p.transA {
						x = l*p.m + i
					}
					if p.transB {
						y = j*p.k + l
					}
					term := float64(a[p.skipA+z*strideA+x]) * float64(b[p.skipB+z*strideB+y])
					want, size = want+term, size+math.Abs(term)
				}
				if e := math.Abs(float64(got[0][at])-want) / size; !(e <= tolerance) {
					t.Fatalf("%v: matrix %d, [%d, %d] is %v, want %v", p, z, i, j, got[0][at], want)
				}
			}
		}
		for at := z*strideC + p.m*p.n; at < (z+1)*strideC; at++ {
			if math.Float32bits(got[0][at]) != math.Float32bits(c[at]) {
				t.Fatalf("%v: the gap between the matrices of a batch has changed", p)
			}
		}
	}
}

func normal(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func upload(d *device.Device, x []float32) device.Array[float32] {
	on := device.New[float32](d, len(x), "a test's matrix")
	device.Upload(d, on, x)
	return on
}

var precisions = []struct {
	tf32      bool
	tolerance float64
}{{false, 1e-6}, {true, 1e-3}}

func TestSgemm(t *testing.T) {
	t.Setenv("DSP_CUDA_BLAS", "own")
	d := cudatest.Device(t)
	for _, by := range precisions {
		s := device.NewBLAS(d, by.tf32)
		defer s.Close()
		t.Run(s.Name(), func(t *testing.T) {
			for _, size := range [][3]int{
				{1, 1, 1}, {3, 5, 7}, {64, 64, 16}, {65, 67, 33}, {130, 25, 40}, {130, 132, 17}, {7, 100, 1}, {4, 4, 0},
				{0, 3, 2}, {3, 0, 2}, {128, 128, 32}, {20, 12, 300},
			} {
				for form := range 8 {
					p := product{transA: form&1 != 0, transB: form&2 != 0, beta: float32(form >> 2), m: size[0],
						n: size[1], k: size[2], batch: 1}
					p.check(t, d, s, by.tolerance)
				}
			}
			rapid.Check(t, func(rt *rapid.T) {
				side := rapid.IntRange(0, 70)
				p := product{
					transA: rapid.Bool().Draw(rt, "transA"), transB: rapid.Bool().Draw(rt, "transB"),
					m: side.Draw(rt, "m"), n: side.Draw(rt, "n"), k: rapid.IntRange(0, 40).Draw(rt, "k"),
					batch: rapid.IntRange(0, 3).Draw(rt, "batch"), skipA: rapid.IntRange(0, 4).Draw(rt, "skipA"),
					skipB: rapid.IntRange(0, 4).Draw(rt, "skipB"), gapA: rapid.IntRange(0, 4).Draw(rt, "gapA"),
					gapB: rapid.IntRange(0, 4).Draw(rt, "gapB"),
					gapC: rapid.IntRange(0, 4).Draw(rt, "gapC"),
					beta: rapid.SampledFrom([]float32{0, 1, -0.5}).Draw(rt, "beta"),
				}
				p.check(t, d, s, by.tolerance)
			})
		})
	}
}

// Long sums are split into parts; a stride of 0 multiplies one matrix by many; a product may be captured.
func TestSgemmOfParts(t *testing.T) {
	t.Setenv("DSP_CUDA_BLAS", "own")
	d := cudatest.Device(t)
	for _, by := range precisions {
		s := device.NewBLAS(d, by.tf32)
		defer s.Close()
		for _, p := range []product{
			{transA: true, m: 12, n: 9, k: 3000, batch: 1},
			{transA: true, m: 30, n: 40, k: 2001, batch: 2, beta: 1, gapA: 3, gapC: 5},
		} {
			p.check(t, d, s, by.tolerance)
		}
	}
}

func TestSgemmSharesAMatrix(t *testing.T) {
	t.Setenv("DSP_CUDA_BLAS", "own")
	d := cudatest.Device(t)
	s := device.NewBLAS(d, false)
	defer s.Close()
	const m, n, k, batch = 5, 6, 7, 3
	r := rand.New(rand.NewPCG(1, 1))
	a, b := normal(r, m*k*batch), normal(r, k*n)
	onA, onB, shared, single := upload(d, a), upload(d, b), upload(d, make([]float32, m*n*batch)),
		upload(d, make([]float32, m*n*batch))
	g := d.Capture(func() { s.Sgemm(false, false, m, n, k, onA, onB, 0, shared, batch, m*k, 0, m*n) })
	defer g.Free()
	d.Replay(g)
	for z := range batch {
		s.Sgemm(false, false, m, n, k, onA.Slice(z*m*k, (z+1)*m*k), onB, 0, single.Slice(z*m*n, (z+1)*m*n), 1, 0, 0, 0)
	}
	got, want := make([]float32, m*n*batch), make([]float32, m*n*batch)
	device.Download(d, got, shared)
	device.Download(d, want, single)
	if err := d.Sync(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the batch gives %v, single products %v", got, want)
	}
}
