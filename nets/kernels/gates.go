package kernels

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/instructions"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// gateLoops are the elementwise loops of gates and of smooth activations. out may be one of the arguments. All
// implementations return the same bits.
type gateLoops struct {
	name           string
	MulAdd         func(out, a, x, b []float32) // a·x + b
	SigmoidSlope   func(out, y, g []float32)    // g·f', a function of the result y
	negate         func(out, x []float32)
	sigmoidFromExp func(out, e []float32)       // e is exp(−x)
	siluFromExp    func(out, x, e []float32)    // x/(1 + e)
	siluSlope      func(out, x, g, e []float32) // g·f' from the argument x and e = exp(−x)
	geluExponent   func(out, x []float32)
	geluSlope      func(out, x, g, e []float32) // g·f' from the argument x and e = exp(geluExponent(x))
	halfSquares    func(out, x []float32)       // −x²/2
	normalPart     func(out, x, e []float32)    // x·Φ(x) from the argument x and e = exp(−x²/2)
	normalSlope    func(out, x, g, e []float32) // g times its derivative
	normalGELU     func(out, x []float32) int   // NormalGELU of as many of the first entries as it returns; nil: none
}

// Gates are the fastest loops for this processor.
var Gates = instructions.Available(&plainGates, avx2Gates, avx512Gates)[0]

// The tanh form of GELU (Hendrycks and Gimpel 2016) is x·(1 + tanh u)/2 = x/(1 + e^−2u), u = √(2/π)·(x + 0.044715·x³).
const (
	gelu1    = 1.5957691216057308 // 2√(2/π)
	gelu3    = gelu1 * 0.044715
	geluFlat = 12 // beyond it, e^−2u is 0 or ∞ in float32
)

// The normal distribution function Φ: for x ≥ 0, 1 − Φ(x) is e^(−x²/2) times a polynomial in 1/(1 + p·x) (Hastings;
// Abramowitz and Stegun 1964, 7.1.26, with x/√2), up to 0.8e-7.
const (
	normalP    = 0.3275911 * math.Sqrt2 / 2
	normal1    = 0.254829592 / 2
	normal2    = -0.284496736 / 2
	normal3    = 1.421413741 / 2
	normal4    = -1.453152027 / 2
	normal5    = 1.061405429 / 2
	normalPeak = 0.3989422804014327 // 1/√(2π)
)

// upper is 1 − Φ(|x|), from e = exp(−x²/2).
func upper(x, e float32) float32 {
	t := 1 / (1 + float32(normalP*sizeOne(x)))
	p := float32(t*normal5) + normal4
	p = float32(p*t) + normal3
	p = float32(p*t) + normal2
	p = float32(p*t) + normal1
	return float32(p*t) * e
}

// sizeOne is |x|.
func sizeOne(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// plainGates are the loops in plain Go.
var plainGates = gateLoops{
	name: "plain",
	MulAdd: func(out, a, x, b []float32) {
		a, x, b = a[:len(out)], x[:len(out)], b[:len(out)]
		for i := range out {
			out[i] = float32(a[i]*x[i]) + b[i]
		}
	},
	SigmoidSlope: func(out, y, g []float32) {
		y, g = y[:len(out)], g[:len(out)]
		for i := range out {
			out[i] = g[i] * y[i] * (1 - y[i])
		}
	},
	negate: func(out, x []float32) {
		x = x[:len(out)]
		for i := range out {
			out[i] = 0 - x[i]
		}
	},
	sigmoidFromExp: func(out, e []float32) {
		e = e[:len(out)]
		for i := range out {
			out[i] = 1 / (1 + e[i])
		}
	},
	siluFromExp: func(out, x, e []float32) {
		x, e = x[:len(out)], e[:len(out)]
		for i := range out {
			out[i] = x[i] / (1 + e[i])
		}
	},
	siluSlope: func(out, x, g, e []float32) {
		x, g, e = x[:len(out)], g[:len(out)], e[:len(out)]
		for i := range out {
			s := 1 / (1 + e[i])
			out[i] = g[i] * (s * (1 + float32(x[i]*(1-s))))
		}
	},
	geluExponent: func(out, x []float32) {
		x = x[:len(out)]
		for i := range out {
			v := min(max(x[i], -geluFlat), geluFlat)
			out[i] = float32(-gelu3*float32(v*v)-gelu1) * v
		}
	},
	geluSlope: func(out, x, g, e []float32) {
		x, g, e = x[:len(out)], g[:len(out)], e[:len(out)]
		for i := range out {
			v, s := min(max(x[i], -geluFlat), geluFlat), 1/(1+e[i])
			du := v * (float32(3*gelu3*float32(v*v)) + gelu1)
			out[i] = g[i] * (s + float32(float32(s*(1-s))*du))
		}
	},
	halfSquares: func(out, x []float32) {
		x = x[:len(out)]
		for i := range out {
			out[i] = float32(x[i]*x[i]) * -0.5
		}
	},
	normalPart: func(out, x, e []float32) {
		x, e = x[:len(out)], e[:len(out)]
		for i := range out { // max(x, 0) − |x|·(1 − Φ(|x|))
			out[i] = positivePart(x[i]) - float32(sizeOne(x[i])*upper(x[i], e[i]))
		}
	},
	normalSlope: func(out, x, g, e []float32) {
		x, g, e = x[:len(out)], g[:len(out)], e[:len(out)]
		for i := range out {
			above := upper(x[i], e[i])
			if x[i] > 0 {
				above = 1 - above
			}
			out[i] = g[i] * (above + float32(float32(x[i]*normalPeak)*e[i]))
		}
	},
}

// fromExp calls use(lo, hi, e) for consecutive blocks of entries lo to hi−1 of x, with e = exp(exponent(x)).
func fromExp(x, e []float32, exponent func(out, x []float32), use func(lo, hi int, e []float32)) {
	for lo := 0; lo < len(x); lo += Block {
		hi := min(lo+Block, len(x))
		e := e[:hi-lo]
		exponent(e, x[lo:hi])
		vec.Exp(e, e)
		use(lo, hi, e)
	}
}

// Sigmoid is 1/(1 + e^−x).
func Sigmoid(out, x, e []float32) {
	fromExp(x[:len(out)], e, Gates.negate, func(lo, hi int, e []float32) { Gates.sigmoidFromExp(out[lo:hi], e) })
}

// SiLU is x/(1 + e^−x) (Elfwing, Uchibe and Doya 2018).
func SiLU(out, x, e []float32) {
	fromExp(x[:len(out)], e, Gates.negate, func(lo, hi int, e []float32) { Gates.siluFromExp(out[lo:hi], x[lo:hi], e) })
}

// SiLUSlope is g times the derivative of SiLU at x.
func SiLUSlope(out, x, g, e []float32) {
	fromExp(x[:len(out)], e, Gates.negate, func(lo, hi int, e []float32) {
		Gates.siluSlope(out[lo:hi], x[lo:hi], g[lo:hi], e)
	})
}

// GELU is x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2.
func GELU(out, x, e []float32) {
	fromExp(x[:len(out)], e, Gates.geluExponent,
		func(lo, hi int, e []float32) { Gates.siluFromExp(out[lo:hi], x[lo:hi], e) })
}

// GELUSlope is g times the derivative of GELU at x.
func GELUSlope(out, x, g, e []float32) {
	fromExp(x[:len(out)], e, Gates.geluExponent,
		func(lo, hi int, e []float32) { Gates.geluSlope(out[lo:hi], x[lo:hi], g[lo:hi], e) })
}

// NormalGELU is x·Φ(x) with the normal distribution function Φ (Hendrycks and Gimpel 2016).
func NormalGELU(out, x, e []float32) {
	if Gates.normalGELU != nil {
		n := Gates.normalGELU(out, x[:len(out)])
		out, x = out[n:], x[n:]
	}
	fromExp(x[:len(out)], e, Gates.halfSquares,
		func(lo, hi int, e []float32) { Gates.normalPart(out[lo:hi], x[lo:hi], e) })
}

// NormalGELUSlope is g times the derivative of NormalGELU at x.
func NormalGELUSlope(out, x, g, e []float32) {
	fromExp(x[:len(out)], e, Gates.halfSquares,
		func(lo, hi int, e []float32) { Gates.normalSlope(out[lo:hi], x[lo:hi], g[lo:hi], e) })
}
