package graph

import (
	"math"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// The elementwise functions, by the names that Gorgonia prints.

var addition, subtraction, multiplication *binaryFunc

var (
	binaries = map[string]*binaryFunc{}
	unaries  = map[string]*unaryFunc{}
)

func init() {
	addition = &binaryFunc{
		name:    "+",
		vv:      kernels.Rows.Add,
		vs:      kernels.Numbers.Add,
		sv:      func(out []float32, x float32, y []float32) { kernels.Numbers.Add(out, y, x) },
		tangent: func(b *builder, v *value, d []*value) *value { return b.sum(d[0], d[1]) },
	}
	subtraction = &binaryFunc{
		name: "-",
		vv:   kernels.Rows.Sub,
		vs:   func(out, x []float32, y float32) { kernels.Numbers.Add(out, x, -y) },
		sv:   kernels.Numbers.From,
		tangent: func(b *builder, v *value, d []*value) *value {
			switch {
			case d[1] == nil:
				return d[0]
			case d[0] == nil:
				return b.add(Unary{unaries["neg"]}, d[1].shape, d[1])
			}
			return b.binary(subtraction, d[0], d[1])
		},
	}
	multiplication = &binaryFunc{
		name: "⊙",
		vv:   kernels.Rows.Mul,
		vs:   kernels.Numbers.Mul,
		sv:   func(out []float32, x float32, y []float32) { kernels.Numbers.Mul(out, y, x) },
		tangent: func(b *builder, v *value, d []*value) *value {
			var l, r *value
			if d[0] != nil {
				l = b.binary(multiplication, d[0], v.args[1])
			}
			if d[1] != nil {
				r = b.binary(multiplication, v.args[0], d[1])
			}
			return b.sum(l, r)
		},
	}
	division := &binaryFunc{name: "÷", vv: kernels.Numbers.Div, vs: kernels.Numbers.Under, sv: kernels.Numbers.Over}
	division.tangent = func(b *builder, v *value, d []*value) *value { // (ẋ − v·ẏ)/y
		n := d[0]
		if d[1] != nil {
			r := b.binary(multiplication, v, d[1])
			if n == nil {
				n = b.add(Unary{unaries["neg"]}, r.shape, r)
			} else {
				n = b.binary(subtraction, n, r)
			}
		}
		return b.binary(division, n, v.args[1])
	}
	power := ofPairs("^", func(x, y float32) float32 { return float32(math.Pow(float64(x), float64(y))) })
	power.tangent = func(b *builder, v *value, d []*value) *value { // y·x^(y−1)·ẋ + v·ln(x)·ẏ
		x, y := v.args[0], v.args[1]
		var l, r *value
		if d[0] != nil {
			l = b.binary(multiplication, b.binary(multiplication, y, b.binary(power, x, b.binary(subtraction, y, b.scalar(1)))),
				d[0])
		}
		if d[1] != nil {
			r = b.binary(multiplication, b.binary(multiplication, v, b.add(Unary{unaries["ln"]}, x.shape, x)), d[1])
		}
		return b.sum(l, r)
	}
	for _, f := range []*binaryFunc{addition, subtraction, multiplication, division, power} {
		f.arithmetic = true
		register(f)
	}
	for name, holds := range map[string]func(x, y float32) bool{
		"<": func(x, y float32) bool { return x < y }, "<=": func(x, y float32) bool { return x <= y },
		">": func(x, y float32) bool { return x > y }, ">=": func(x, y float32) bool { return x >= y },
		"==": func(x, y float32) bool { return x == y }, "!=": func(x, y float32) bool { return x != y },
	} {
		f := ofPairs(name, func(x, y float32) float32 {
			one := uint32(0)
			if holds(x, y) {
				one = 0x3f800000 // the bits of 1: chosen without a branch, which would be mispredicted half of the time
			}
			return math.Float32frombits(one)
		})
		f.tangent = func(*builder, *value, []*value) *value { return nil }
		register(f)
	}
	for _, f := range unaryTable {
		unaries[f.name] = f
	}
}

func register(f *binaryFunc) { binaries[f.name] = f }

// ofPairs returns a function that applies one to each pair of entries, and to each entry and a number.
func ofPairs(name string, one func(x, y float32) float32) *binaryFunc {
	return &binaryFunc{
		name: name,
		vv: func(out, x, y []float32) {
			x, y = x[:len(out)], y[:len(out)]
			for i := range out {
				out[i] = one(x[i], y[i])
			}
		},
		vs: func(out, x []float32, y float32) {
			x = x[:len(out)]
			for i := range out {
				out[i] = one(x[i], y)
			}
		},
		sv: func(out []float32, x float32, y []float32) {
			y = y[:len(out)]
			for i := range out {
				out[i] = one(x, y[i])
			}
		},
	}
}

func pointwise(f func(float64) float64) func(out, x, _ []float32) {
	return func(out, x, _ []float32) {
		x = x[:len(out)]
		for i := range out {
			out[i] = float32(f(float64(x[i])))
		}
	}
}

// slopeOf returns the loop g·f'(s) for a derivative f'.
func slopeOf(df func(s float64) float64) func(out, s, g, _ []float32) {
	return func(out, s, g, _ []float32) {
		s, g = s[:len(out)], g[:len(out)]
		for i := range out {
			out[i] = g[i] * float32(df(float64(s[i])))
		}
	}
}

// withoutScratch gives a slope that needs no scratch memory the signature of one that does.
func withoutScratch(slope func(out, s, g []float32)) func(out, s, g, _ []float32) {
	return func(out, s, g, _ []float32) { slope(out, s, g) }
}

// unaryTable leaves out log2 and invSqrt: Gorgonia v0.9.18 differentiates them wrongly.
var unaryTable = []*unaryFunc{
	{name: "neg", apply: func(out, x, _ []float32) {
		for i, v := range x[:len(out)] {
			out[i] = -v
		}
	}, slope: func(out, _, g, _ []float32) {
		for i, v := range g[:len(out)] {
			out[i] = -v
		}
	}},
	{name: "abs", apply: absolute, slope: slopeOf(sign)},
	{name: "sign", apply: signs},
	{name: "ceil", apply: pointwise(math.Ceil)},
	{name: "floor", apply: pointwise(math.Floor)},
	{name: "sin", apply: pointwise(math.Sin), slope: slopeOf(math.Cos)},
	{name: "cos", apply: pointwise(math.Cos), slope: slopeOf(func(x float64) float64 { return -math.Sin(x) })},
	{name: "exp", apply: func(out, x, _ []float32) { vec.Exp(x, out) }, ofResult: true,
		slope: slopeOf(func(y float64) float64 { return y })},
	{name: "ln", apply: pointwise(math.Log), slope: slopeOf(func(x float64) float64 { return 1 / x })},
	{name: "square", apply: pointwise(func(x float64) float64 { return x * x }), slope: slopeOf(func(x float64) float64 {
		return 2 * x
	})},
	{name: "cube", apply: pointwise(func(x float64) float64 { return x * x * x }), slope: slopeOf(func(x float64) float64 {
		return 3 * x * x
	})},
	{name: "sqrt", apply: pointwise(math.Sqrt), ofResult: true, slope: slopeOf(func(y float64) float64 {
		return 1 / (2 * y)
	})},
	{name: "inv", apply: pointwise(func(x float64) float64 { return 1 / x }), ofResult: true,
		slope: slopeOf(func(y float64) float64 { return -y * y })},
	{name: "tanh", apply: kernels.Tanh, ofResult: true, slope: withoutScratch(kernels.Rows.TanhSlope)},
	{name: "sigmoid", apply: kernels.Sigmoid, ofResult: true, slope: withoutScratch(kernels.Gates.SigmoidSlope)},
	{name: "log1p", apply: pointwise(math.Log1p), slope: slopeOf(func(x float64) float64 { return 1 / (1 + x) })},
	{name: "expm1", apply: pointwise(math.Expm1), ofResult: true, slope: slopeOf(func(y float64) float64 {
		return y + 1
	})},
	{name: "softplus", apply: pointwise(func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }),
		slope: slopeOf(func(x float64) float64 { return 1 / (1 + math.Exp(-x)) })},
	{name: "relu", apply: func(out, x, _ []float32) { kernels.Rows.ReLU(out, x) }, ofResult: true,
		slope: withoutScratch(kernels.Rows.ReLUSlope)},
	{name: "elu", apply: kernels.ELU, ofResult: true, slope: withoutScratch(kernels.Rows.ELUSlope)},
	{name: "gelu", apply: kernels.GELU, slope: kernels.GELUSlope},
	{name: "gelu_erf", apply: kernels.NormalGELU, slope: kernels.NormalGELUSlope},
	{name: "silu", apply: kernels.SiLU, slope: kernels.SiLUSlope},
}

// absolute clears the sign bits.
func absolute(out, x, _ []float32) {
	x = x[:len(out)]
	for i := range out {
		out[i] = math.Float32frombits(math.Float32bits(x[i]) &^ (1 << 31))
	}
}

// signs is sign without branches, which would be mispredicted half of the time: 1 with the sign bit of a number that is
// neither zero nor NaN.
func signs(out, x, _ []float32) {
	x = x[:len(out)]
	for i := range out {
		bits := math.Float32bits(x[i])
		size := bits &^ (1 << 31)
		neither := uint32(int32(size-1)>>31) | uint32(int32(0x7f800000-size)>>31) // all ones for zero and NaN
		out[i] = math.Float32frombits((0x3f800000 | bits&(1<<31)) &^ neither)
	}
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
