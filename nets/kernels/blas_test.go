package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// availableBLAS returns new instances of all implementations that this machine can run, the preferred one first.
func availableBLAS() []BLAS {
	var all []BLAS
	for _, s := range sources {
		all = append(all, s()...)
	}
	return all
}

// Every implementation equals three plain loops, for all transposes and for sizes around those of the tiles.
func TestSgemm(t *testing.T) {
	sizes := [][3]int{{1, 1, 1}, {8, 48, 5}, {8, 16, 300}, {7, 31, 9}, {9, 49, 257}, {16, 96, 64}, {65, 33, 130},
		{3, 200, 1}, {130, 25, 70}, {200, 64, 513}, {4, 24, 8}, {5, 3, 0}}
	for _, b := range availableBLAS() {
		t.Run(b.Name(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 1))
			for _, s := range sizes {
				for _, transA := range []bool{false, true} {
					for _, transB := range []bool{false, true} {
						for _, beta := range []float32{0, 1, 0.5} {
							checkSgemm(t, b, rng, transA, transB, s[0], s[1], s[2], beta)
						}
					}
				}
			}
		})
	}
}

func checkSgemm(t *testing.T, b BLAS, rng *rand.Rand, transA, transB bool, m, n, k int, beta float32) {
	t.Helper()
	x, y, c := gaussians(rng, m*k), gaussians(rng, k*n), gaussians(rng, m*n)
	want := make([]float64, m*n)
	for i := range m {
		for j := range n {
			s := 0.0
			for p := range k {
				xi, yi := i*k+p, p*n+j
				if transA {
					xi = p*m + i
				}
				if transB {
					yi = j*k + p
				}
				s += float64(x[xi]) * float64(y[yi])
			}
			want[i*n+j] = s
			if beta != 0 {
				want[i*n+j] += float64(beta) * float64(c[i*n+j])
			}
		}
	}
	if beta == 0 {
		for i := range c {
			c[i] = float32(math.NaN())
		}
	}
	b.Sgemm(transA, transB, m, n, k, x, y, beta, c)
	largest := 1.0
	for _, x := range want {
		largest = max(largest, math.Abs(x))
	}
	for i, x := range c {
		if d := math.Abs(float64(x) - want[i]); !(d <= 1e-5*largest) {
			t.Fatalf("%d×%d×%d %v %v β=%g: c[%d] = %g, want %g", m, n, k, transA, transB, beta, i, x, want[i])
		}
	}
}

// The kernels of this package add in the same order, so that a model's bits do not depend on the processor.
func TestOwnKernelsGiveTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, s := range [][3]int{{9, 49, 257}, {16, 96, 600}, {65, 33, 130}, {130, 25, 70}} {
		m, n, k := s[0], s[1], s[2]
		x, y, c := gaussians(rng, m*k), gaussians(rng, k*n), gaussians(rng, m*n)
		for _, transB := range []bool{false, true} {
			var first []float32
			for _, b := range ownBLAS() {
				got := slices.Clone(c)
				b.Sgemm(false, transB, m, n, k, x, y, 1, got)
				if first == nil {
					first = got
				} else if !slices.Equal(first, got) {
					t.Errorf("%v, transposed %v: %s differs", s, transB, b.Name())
				}
			}
		}
	}
}

func TestCurrentBLASIsThePreferredOne(t *testing.T) {
	before := preferred
	t.Cleanup(func() { preferred = before })
	for _, b := range availableBLAS() {
		preferred = strings.ToLower(b.Name())
		if got := CurrentBLAS().Name(); got != b.Name() {
			t.Errorf("DSP_BLAS=%s gives %s", preferred, got)
		}
	}
	preferred = ""
	first := CurrentBLAS().Name()
	if want := availableBLAS()[0].Name(); first != want {
		t.Errorf("without DSP_BLAS the choice is %s, expected %s", first, want)
	}
	all := sources
	t.Cleanup(func() { sources = all })
	sources = all[1:] // as on a processor without instructions for dsp's own kernels
	preferred = "own"
	if got := CurrentBLAS().Name(); got != `gonum (no "own")` {
		t.Errorf("without its kernels DSP_BLAS=own gives %s, whose bits may depend on what is installed", got)
	}
	sources = all

	preferred = "abacus"
	if got, want := CurrentBLAS().Name(), first+` (no "abacus")`; got != want {
		t.Errorf("DSP_BLAS=abacus gives %s, expected %s", got, want)
	}
}

func BenchmarkSgemm(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range []struct {
		what           string
		m, n, k        int
		transA, transB bool
	}{
		{"forward", 4096, 200, 300, false, false},
		{"labels", 4096, 25, 200, false, false},
		{"weights", 300, 200, 4096, true, false},
		{"inputs", 4096, 200, 25, false, true},
		{"chain", 16, 200, 300, false, false},
		{"chain weights", 300, 200, 16, true, false},
		{"image", 8192, 16, 9, false, false},
		{"square", 1024, 1024, 1024, false, false},
	} {
		x, y, c := gaussians(rng, s.m*s.k), gaussians(rng, s.k*s.n), gaussians(rng, s.m*s.n)
		for _, blas := range availableBLAS() {
			b.Run(s.what+"/"+blas.Name(), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					blas.Sgemm(s.transA, s.transB, s.m, s.n, s.k, x, y, 0, c)
				}
				b.ReportMetric(2*float64(s.m*s.n*s.k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
