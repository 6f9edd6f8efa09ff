package transcript

import "math"

var plain = kernels{name: "plain Go", exps: exps, forward: forward, backward: backward, times: times, shift: shift}

func exps(to, x []float64, top, scale float64, lo, hi int) {
	for i := lo; i < hi; i++ {
		to[i] = exp((x[i] - top) * scale)
	}
}

const (
	taylor12, taylor11, taylor10 = 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800
	taylor9, taylor8, taylor7    = 1.0 / 362880, 1.0 / 40320, 1.0 / 5040
	taylor6, taylor5, taylor4    = 1.0 / 720, 1.0 / 120, 1.0 / 24
	taylor3                      = 1.0 / 6

	rounder = 3 << 51 // adding it rounds to an integer, and subtracting it again gives that
	ln2Hi   = 0x1.62e42feep-1
	ln2Lo   = 0x1.a39ef35793c76p-33
)

// exp returns exp(x) for x ≤ 0, and 0 below leastExponent: 2ⁿ exp(r) with n = round(x log₂e), |r| ≤ ln2/2, and the
// Taylor polynomial of degree 12.
func exp(x float64) float64 {
	if !(x > leastExponent) {
		return 0
	}
	shifted := math.FMA(x, math.Log2E, rounder)
	n := shifted - rounder
	r := math.FMA(n, -ln2Lo, math.FMA(n, -ln2Hi, x)) // few bits of ln2 make the first product exact
	p := taylor12
	for _, c := range [...]float64{taylor11, taylor10, taylor9, taylor8, taylor7, taylor6, taylor5,
		taylor4, taylor3, 0.5, 1, 1} {
		p = math.FMA(p, r, c)
	}
	return math.Float64frombits(math.Float64bits(p) + math.Float64bits(shifted)<<52)
}

func forward(to, from *both, skip, x []float64, p float64, lo, hi int) (top float64) {
	for i := lo; i < hi; i++ {
		b, s, before := from.blank[i], from.symbol[i], from.symbol[i-1]
		blank, symbol := (b+before)*p, (s+b+skip[i]*before)*x[i]
		to.blank[i], to.symbol[i] = blank, symbol
		top = max(top, blank, symbol)
	}
	return top
}

func backward(to, from *both, skip, x []float64, p float64, lo, hi int) (top float64) {
	for i := lo; i < hi; i++ {
		s := float64(from.symbol[i] * x[i])
		blank := float64(from.blank[i]*p) + s
		symbol := s + float64(from.blank[i+1]*p) + skip[i+1]*float64(from.symbol[i+1]*x[i+1])
		to.blank[i], to.symbol[i] = blank, symbol
		top = max(top, blank, symbol)
	}
	return top
}

func times(to, x, y []float64, lo, hi int) {
	for i := lo; i < hi; i++ {
		to[i] = x[i] * y[i]
	}
}

func shift(to, x []float32, scale float32) float32 {
	top := x[0]
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	if top > minusInf32 {
		for i, v := range x {
			to[i] = (v - top) * scale
		}
	}
	return top
}

var minusInf32 = float32(minusInf)
