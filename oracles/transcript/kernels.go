package transcript

import "github.com/dsp-go/dsp/structured/sys/instructions"

//go:generate go run github.com/dsp-go/dsp/structured/sys/vec/halve

// lanes is the number of float64 that every kernel can read at once. Rows have that many before the first place and
// after the last.
const lanes = 8

// kernels are the inner loops of this package for one vector width. A row has a place for each symbol k of a string,
// and for the blank before it. Kernels compute whole vectors of places lo to hi−1.
//
//	exps      to = exp((x − top)·scale), for x ≤ top
//	forward   blank_k = (b_k + s_{k−1})·p,   symbol_k = (s_k + b_k + skip_k·s_{k−1})·x_k,   of b and s a frame before
//	backward  blank_k = b_k·p + s_k·x_k,     symbol_k = s_k·x_k + b_{k+1}·p + skip_{k+1}·s_{k+1}·x_{k+1},   of b and s a frame after
//	times     to = x·y
//	shift     to = (x − top)·scale for the largest x, top, which it returns; nothing if that is −∞
//
// forward and backward return the largest number. All kernels give the same bits.
type kernels struct {
	name string

	exps     func(to, x []float64, top, scale float64, lo, hi int)
	forward  func(to, from *both, skip, x []float64, p float64, lo, hi int) float64
	backward func(to, from *both, skip, x []float64, p float64, lo, hi int) float64
	times    func(to, x, y []float64, lo, hi int)
	shift    func(to, x []float32, scale float32) (top float32)
}

// both are the rows of blanks and of symbols.
type both struct{ blank, symbol []float64 }

// be makes r row t of tables with rows of stride numbers.
func (r *both) be(of *both, t, stride int) *both {
	r.blank, r.symbol = of.blank[t*stride:][:stride], of.symbol[t*stride:][:stride]
	return r
}

// available are the kernels that this build and machine can run, the fastest first.
var available = instructions.Available(&plain, avx2, avx512)

var fastest = available[0]

// leastExponent is the least x of which exps does not return 0: smaller powers are subnormal.
const leastExponent = -708
