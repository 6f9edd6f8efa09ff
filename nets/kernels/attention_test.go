package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The row loops of attention return the bits of the plain ones.
func TestSoftmaxLoopsEqualPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 10 {
		x, y := gaussians(rng, 3*(8*n+8)), gaussians(rng, 3*(8*n+8))
		for what, f := range map[string]func(r *rowLoops, x []float32){
			"subtract tops": func(r *rowLoops, x []float32) { r.subtractTops(x, 8*n+8) },
			"normalise":     func(r *rowLoops, x []float32) { r.normalise(x, 8*n+8) },
			"softmax pull":  func(r *rowLoops, x []float32) { r.SoftmaxPull(x, y, 8*n+8) },
		} {
			got, want := slices.Clone(x), slices.Clone(x)
			f(Rows, got)
			if f(&plainRows, want); !slices.Equal(got, want) {
				t.Errorf("%s of %d: %v, plain %v", what, len(x), got, want)
			}
		}
		c, s := gaussians(rng, n+1), gaussians(rng, n+1)
		x = gaussians(rng, 6*(n+1))
		got, want := make([]float32, len(x)), slices.Clone(x)
		Rows.Rotate(got, x, c, s, -1)
		plainRows.Rotate(want, want, c, s, -1)
		if !slices.Equal(got, want) {
			t.Errorf("rotation by %d: %v, plain %v in place", n+1, got, want)
		}
	}
}

func TestSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := 1; n <= 16; n++ {
		const width = 16
		x := gaussians(rng, 3*width)
		for i := range width {
			x[i] *= 500
		}
		p := slices.Clone(x)
		Softmax(p, n, width)
		for r := range 3 {
			top, sum := math.Inf(-1), 0.0
			for _, v := range x[r*width:][:n] {
				top = max(top, float64(v))
			}
			for _, v := range x[r*width:][:n] {
				sum += math.Exp(float64(v) - top)
			}
			for i, got := range p[r*width:][:width] {
				want := 0.0
				if i < n {
					want = math.Exp(float64(x[r*width+i])-top) / sum
				}
				if !(math.Abs(float64(got)-want) < 1e-6) {
					t.Errorf("row %d of %d: entry %d is %g, want %g", r, n, i, got, want)
				}
			}
		}
	}
	nan := []float32{0, float32(math.NaN()), 1, 2, 0, 0, 0, 0}
	if Softmax(nan, 5, 8); nan[0] == nan[0] || nan[4] == nan[4] {
		t.Errorf("a row with a NaN becomes %v", nan)
	}
}
