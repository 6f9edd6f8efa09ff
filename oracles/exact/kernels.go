package exact

import "github.com/dsp-go/dsp/structured/sys/instructions"

//go:generate go run github.com/dsp-go/dsp/structured/sys/vec/halve

// kernels are the inner loops of forests, one set per vector width. All sets give the same bits for maxima, and the
// same numbers up to rounding for sums.
//
// A row holds Y numbers, one per label, in float64. Rows are padded to stride, a multiple of lanes: with −∞ in widen's
// rows of variables, else with zeros. A table is Y such rows. Rows of potentials in float32 have y numbers and no
// padding.
type kernels struct {
	name  string
	lanes int // float64 numbers per vector

	// expError bounds the relative error of exponentials, besides that of their argument.
	expError float64

	// widen copies rows of potentials and pads them.
	widen func(to []float64, from []float32, rows, y, stride int, pad float64)
	// maxPlus adds max_k (x_k + table_kl) to every to_l.
	maxPlus func(to, x, table []float64, y int)
	// maxDots adds max_k (x_k + table_lk) to every to_l with l < y.
	maxDots func(to, x, table []float64, y int)
	// argmax returns the first l with the largest x_l + y_l. The padding of x is −∞.
	argmax func(x, y []float64) int

	// exps sets each row of to to exp(scale·(x − m)) for the largest number m of a row x of from. It returns the sum of
	// the m, and the smallest exponent that is not −∞, at most 0.
	exps func(to []float64, from []float32, rows, y, stride int, scale float64) (most, least float64)
	// expsFrom sets to to exp(scale·(x − most)) for numbers x ≤ most, and returns the smallest exponent that is not −∞.
	expsFrom func(to []float64, from []float32, rows, y, stride int, most, scale float64) (least float64)
	// expSums sets to_l = Σ_k exp(x_k + table_kl − m_l) for exponents ≤ 0, and 0 where m_l = −∞.
	expSums func(to, x, table, m []float64, y int)
	// jointExps adds exp(a_k + b_l + table_kl) to every g_kl, and sets rows and cols to the sums of the new terms of
	// each row and column. The padding of a and b is −∞. rows has room for another vector.
	jointExps func(g, rows, cols, a, b, table []float64, y int)
	// sums sets to_l = Σ_k x_k table_kl.
	sums func(to, x, table []float64, y int)
	// dots sets to_l = Σ_k table_lk x_k.
	dots func(to, x, table []float64, y int)
	// multiply multiplies to by x, and lowers each lane of floor to what is positive in x and in the product.
	multiply func(to, x, floor []float64)
	// normalise divides x by its sum, which it returns.
	normalise func(x []float64) float64
	// divide sets to_l = x_l/y_l, and 0 where y_l = 0.
	divide func(to, x, y []float64)
	// product sets to_l = x_l·y_l, and the y numbers of p to the same.
	product func(to []float64, p []float32, x, y []float64)
	// outer adds Σ_i a_ik b_il to g_kl, for four rows a_i and four rows b_i.
	outer func(g, a, b []float64, y, stride int)
	// weigh sets to_kl = g_kl·table_kl; rows of to have y numbers.
	weigh func(to []float32, g, table []float64, y, stride int)
	// joint sets to_kl = a_k b_l table_kl; rows of to have y numbers.
	joint func(to []float32, a, b, table []float64, y int)
}

// available are the kernels that this build and machine can run, the fastest first.
var available = instructions.Available(&plain, avx2, avx512)

var fastest = available[0]
