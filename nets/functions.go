package nets

import (
	"fmt"
	"math"
	"slices"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured/vec"
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
		tangent: func(b *builder, v *value, d []*value) *value { return b.sum(d[0], d[1]) },
	}
	subtraction = &binaryFunc{
		name: "-",
		vv:   kernels.Rows.Sub,
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
	division := &binaryFunc{name: "÷", vv: pairwise(func(x, y float32) float32 { return x / y })}
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
	power := &binaryFunc{name: "^", vv: pairwise(func(x, y float32) float32 { return float32(math.Pow(float64(x), float64(y))) })}
	power.tangent = func(b *builder, v *value, d []*value) *value { // y·x^(y−1)·ẋ + v·ln(x)·ẏ
		x, y := v.args[0], v.args[1]
		var l, r *value
		if d[0] != nil {
			l = b.binary(multiplication, b.binary(multiplication, y, b.binary(power, x, b.binary(subtraction, y, b.scalar(1)))), d[0])
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
		register(&binaryFunc{name: name,
			vv: pairwise(func(x, y float32) float32 {
				if holds(x, y) {
					return 1
				}
				return 0
			}),
			tangent: func(*builder, *value, []*value) *value { return nil }})
	}
	for _, f := range unaryTable {
		unaries[f.name] = f
	}
}

// register adds f to binaries. A missing vs or sv form comes from vv.
func register(f *binaryFunc) {
	vv := f.vv
	f.vs = func(out, x []float32, y float32) {
		one := [1]float32{y}
		for i := range out {
			vv(out[i:i+1], x[i:i+1], one[:])
		}
	}
	f.sv = func(out []float32, x float32, y []float32) {
		one := [1]float32{x}
		for i := range out {
			vv(out[i:i+1], one[:], y[i:i+1])
		}
	}
	switch f.name {
	case "+":
		f.vs = func(out, x []float32, y float32) {
			x = x[:len(out)]
			for i := range out {
				out[i] = x[i] + y
			}
		}
		f.sv = func(out []float32, x float32, y []float32) { f.vs(out, y, x) }
	case "⊙":
		f.vs = func(out, x []float32, y float32) {
			x = x[:len(out)]
			for i := range out {
				out[i] = x[i] * y
			}
		}
		f.sv = func(out []float32, x float32, y []float32) { f.vs(out, y, x) }
	}
	binaries[f.name] = f
}

func pairwise(f func(x, y float32) float32) func(out, x, y []float32) {
	return func(out, x, y []float32) {
		x, y = x[:len(out)], y[:len(out)]
		for i := range out {
			out[i] = f(x[i], y[i])
		}
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
func slopeOf(df func(s float64) float64) func(out, s, g []float32) {
	return func(out, s, g []float32) {
		s, g = s[:len(out)], g[:len(out)]
		for i := range out {
			out[i] = g[i] * float32(df(float64(s[i])))
		}
	}
}

// unaryTable leaves out log2 and invSqrt: Gorgonia v0.9.18 differentiates them wrongly.
var unaryTable = []*unaryFunc{
	{name: "neg", apply: func(out, x, _ []float32) {
		for i, v := range x[:len(out)] {
			out[i] = -v
		}
	}, slope: func(out, _, g []float32) {
		for i, v := range g[:len(out)] {
			out[i] = -v
		}
	}},
	{name: "abs", apply: pointwise(math.Abs), slope: slopeOf(sign)},
	{name: "sign", apply: pointwise(sign)},
	{name: "ceil", apply: pointwise(math.Ceil)},
	{name: "floor", apply: pointwise(math.Floor)},
	{name: "sin", apply: pointwise(math.Sin), slope: slopeOf(math.Cos)},
	{name: "cos", apply: pointwise(math.Cos), slope: slopeOf(func(x float64) float64 { return -math.Sin(x) })},
	{name: "exp", apply: func(out, x, _ []float32) { vec.Exp(x, out) }, ofResult: true, slope: slopeOf(func(y float64) float64 { return y })},
	{name: "ln", apply: pointwise(math.Log), slope: slopeOf(func(x float64) float64 { return 1 / x })},
	{name: "square", apply: pointwise(func(x float64) float64 { return x * x }), slope: slopeOf(func(x float64) float64 { return 2 * x })},
	{name: "cube", apply: pointwise(func(x float64) float64 { return x * x * x }), slope: slopeOf(func(x float64) float64 { return 3 * x * x })},
	{name: "sqrt", apply: pointwise(math.Sqrt), ofResult: true, slope: slopeOf(func(y float64) float64 { return 1 / (2 * y) })},
	{name: "inv", apply: pointwise(func(x float64) float64 { return 1 / x }), ofResult: true,
		slope: slopeOf(func(y float64) float64 { return -y * y })},
	{name: "tanh", apply: kernels.Tanh, ofResult: true, slope: kernels.Rows.TanhSlope},
	{name: "sigmoid", apply: kernels.Sigmoid, ofResult: true, slope: func(out, y, g []float32) {
		y, g = y[:len(out)], g[:len(out)]
		for i := range out {
			out[i] = g[i] * y[i] * (1 - y[i])
		}
	}},
	{name: "log1p", apply: pointwise(math.Log1p), slope: slopeOf(func(x float64) float64 { return 1 / (1 + x) })},
	{name: "expm1", apply: pointwise(math.Expm1), ofResult: true, slope: slopeOf(func(y float64) float64 { return y + 1 })},
	{name: "softplus", apply: pointwise(func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }),
		slope: slopeOf(func(x float64) float64 { return 1 / (1 + math.Exp(-x)) })},
	{name: "relu", apply: func(out, x, _ []float32) { kernels.Rows.ReLU(out, x) }, ofResult: true, slope: kernels.Rows.ReLUSlope},
	{name: "elu", apply: kernels.ELU, ofResult: true, slope: kernels.Rows.ELUSlope},
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

// Activation is an elementwise non-linearity.
type Activation string

// The activations. ELU is x for x > 0 and eˣ−1 below (Clevert, Unterthiner and Hochreiter 2016).
const (
	ELU  Activation = "elu"
	Tanh Activation = "tanh"
	ReLU Activation = "relu"
)

var activations = map[Activation]struct{ f, slope func(float64) float64 }{ // the slope is a function of the result
	ELU: {func(x float64) float64 {
		if x > 0 {
			return x
		}
		return math.Expm1(x)
	}, func(y float64) float64 { return min(y, 0) + 1 }},
	Tanh: {math.Tanh, func(y float64) float64 { return 1 - y*y }},
	ReLU: {func(x float64) float64 { return max(x, 0) }, func(y float64) float64 {
		if y > 0 {
			return 1
		}
		return 0
	}},
}

// activationNames lists the activations by name.
func activationNames() []string {
	var names []string
	for a := range activations {
		names = append(names, string(a))
	}
	slices.Sort(names)
	return names
}

// Activate applies an activation to every entry of x. Its gradient is a single op that needs only the result.
func (g *Graph) Activate(x *gorgonia.Node, a Activation) (*gorgonia.Node, error) {
	f, ok := activations[a]
	if !ok {
		return nil, fmt.Errorf("nets: activation %q is not one of elu, tanh, relu", a)
	}
	shape := x.Shape().Clone()
	op := &fusedOp{name: string(a), out: shape,
		eval: func(args [][]float64, out []float64) {
			for i, x := range args[0] {
				out[i] = f.f(x)
			}
		},
		lowered: func(b *builder, args []*value) *value { return b.add(Unary{unaries[string(a)]}, shape, args[0]) },
	}
	op.pull = func(_ gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		back := &fusedOp{name: string(a) + "'", out: shape,
			eval: func(args [][]float64, out []float64) {
				for i, y := range args[0] {
					out[i] = args[1][i] * f.slope(y)
				}
			},
			lowered: func(b *builder, args []*value) *value {
				return b.add(Slope{unaries[string(a)]}, shape, args[0], args[1])
			},
		}
		n, err := back.apply(output, grad)
		return gorgonia.Nodes{n}, err
	}
	return op.apply(x)
}
