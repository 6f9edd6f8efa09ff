package graph

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gorgonia.org/gorgonia"
)

// Activation is an elementwise non-linearity.
type Activation string

// The activations. ELU is x for x > 0 and eˣ−1 below (Clevert, Unterthiner and Hochreiter 2016). GELU is x·Φ(x) in the
// form with tanh (Hendrycks and Gimpel 2016), SiLU is x·sigmoid(x) (Elfwing, Uchibe and Doya 2018). NormalGELU is
// x·Φ(x) without approximation, which pretrained encoders use; layers do not offer it.
const (
	ELU     Activation = "elu"
	Tanh    Activation = "tanh"
	ReLU    Activation = "relu"
	GELU    Activation = "gelu"
	SiLU    Activation = "silu"
	Sigmoid Activation = "sigmoid"

	NormalGELU Activation = "gelu_erf"
)

// Activations lists the activations in the order in which messages name them.
var Activations = []Activation{ELU, Tanh, ReLU, GELU, SiLU, Sigmoid}

// Check refuses an activation that does not exist.
func (a Activation) Check() error {
	if slices.Contains(Activations, a) {
		return nil
	}
	var names []string
	for _, known := range Activations {
		names = append(names, string(known))
	}
	return fmt.Errorf("activation %q is not one of %s", a, strings.Join(names, ", "))
}

// activations are the functions in float64, for Gorgonia's machines. The slope is a function of the result, or of the
// argument if the unary function of that name says so.
var activations = map[Activation]struct{ f, slope func(float64) float64 }{
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
	GELU: {func(x float64) float64 {
		return x * (1 + math.Tanh(geluScale*(x+geluCube*x*x*x))) / 2
	}, func(x float64) float64 {
		t := math.Tanh(geluScale * (x + geluCube*x*x*x))
		return (1 + t + x*(1-t*t)*geluScale*(1+3*geluCube*x*x)) / 2
	}},
	SiLU: {func(x float64) float64 { return x * sigmoid(x) }, func(x float64) float64 {
		s := sigmoid(x)
		return s * (1 + x*(1-s))
	}},
	NormalGELU: {func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 }, func(x float64) float64 {
		return math.Erfc(-x/math.Sqrt2)/2 + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
	}},
	Sigmoid: {sigmoid, func(y float64) float64 { return y * (1 - y) }},
}

const (
	geluScale = 0.7978845608028654 // √(2/π)
	geluCube  = 0.044715
)

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Activate applies an activation to every entry of x. Its gradient is a single op.
func (g *Graph) Activate(x *gorgonia.Node, a Activation) (*gorgonia.Node, error) {
	f, ok := activations[a]
	if !ok {
		return nil, fmt.Errorf("nets: %w", a.Check())
	}
	lowered, shape := unaries[string(a)], x.Shape().Clone()
	op := &fusedOp{name: string(a), out: shape,
		eval: func(args [][]float64, out []float64) {
			for i, x := range args[0] {
				out[i] = f.f(x)
			}
		},
		lowered: func(b *builder, args []*value) *value { return b.add(Unary{lowered}, shape, args[0]) },
	}
	op.pull = func(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		back := &fusedOp{name: string(a) + "'", out: shape,
			eval: func(args [][]float64, out []float64) {
				for i, s := range args[0] {
					out[i] = args[1][i] * f.slope(s)
				}
			},
			lowered: func(b *builder, args []*value) *value { return b.add(Slope{lowered}, shape, args[0], args[1]) },
		}
		of := output
		if !lowered.ofResult {
			of = inputs[0]
		}
		n, err := back.apply(of, grad)
		return gorgonia.Nodes{n}, err
	}
	return op.apply(x)
}
