package tree

import "github.com/dsp-go/dsp/structured/sys/instructions"

//go:generate go run github.com/dsp-go/dsp/structured/sys/vec/halve

type real interface{ float32 | float64 }

// semiring holds the inner loops of charts over one semiring: (max, +), (+, ×), or the latter on logarithms.
type semiring[F real] struct {
	zero, one F
	// splits sets to_i = ⊕_s x[ox+s·dx+i] ⊗ y[oy+s·dy+i] for i < lanes, s < splits. It may read and write up to the
	// next multiple of 8 lanes.
	splits func(to, x, y []F, ox, dx, oy, dy, splits, lanes int)
	// times sets to_i = x_i ⊗ y_i for all i of to.
	times func(to, x, y []F)
	// plus adds x to to.
	plus func(to, x []F)
}

// elimination holds the inner loops of the matrix-tree theorem, on weights or on their logarithms.
type elimination struct {
	zero, one float64
	plus      func(a, b float64) float64
	times     func(a, b float64) float64
	log       func(a float64) float64
	// sum returns the sum of x.
	sum func(x []float64) float64
	// divide multiplies x by 1/s.
	divide func(x []float64, s float64)
	// eliminate adds m_ik times row k to every row i from lo to hi-1 of the matrix m, in columns lo to hi-1, and m_ik
	// times ek to e_i. It may write up to three columns further.
	eliminate func(m, e []float64, ek float64, stride, k, lo, hi int)
	// combine adds Σ_i c_i·g_i to to, where row g_i starts at g[i*stride]. It may write up to three numbers further.
	combine func(to, c, g []float64, stride, lanes int)
}

// kernels are the inner loops of this package for one vector width. Vector kernels clear the upper halves of the
// registers when they end, since dirty ones slow down the scalar code that follows.
type kernels struct {
	name string

	single semiring[float32] // max and +
	double semiring[float64] // + and ×
	trees  elimination

	// largest and largestDouble return the largest number of x.
	largest       func(x []float32) float32
	largestDouble func(x []float64) float64
	// largestOfRows sets to_i to the largest number in row i of x.
	largestOfRows func(to, x []float32, width int)
	// shares sets to_i = exp(scale·(x_i − shift)) and returns the sum; exponents must be ≤ 0. Results below 1e-37
	// become 0.
	shares func(to, x []float32, shift, scale float32) float64
	// exps sets to_i = factor·exp(scale·(from_i − shift)); exponents must be ≤ 0. Results below 1e-307 become 0.
	exps func(to, from []float64, shift, scale, factor float64)

	abreast *abreastKernels // nil: none

	// The rows of the following have a multiple of 4 numbers.

	// argmax returns the first i with the largest x_i, −1 if all are −∞.
	argmax func(x []float64) int
	// above returns the first i ≥ from with x_i > bound, or −1 if there is none.
	above func(x []float64, from int, bound float64) int
	// widen converts from, shorter than to by at most 3, and pads with −∞.
	widen func(to []float64, from []float32)
	// contract sets to_i = max(to_i, x_i − less).
	contract func(to, x []float64, less float64)
}

// available are the kernels that this build and machine can run, the fastest first.
var available = instructions.Available(&plain, avx2, avx512)

var fastest = available[0]
