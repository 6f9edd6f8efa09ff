package nets

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
)

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

// Activate applies an activation to every entry of x. Its gradient is one op too, and needs only the result.
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
