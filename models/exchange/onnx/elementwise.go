package onnx

import (
	"math"

	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// plainUnaries are the functions of one number that ONNX has, by the names of graph.Unary.
var plainUnaries = map[string]string{
	"neg": "Neg", "abs": "Abs", "sign": "Sign", "ceil": "Ceil", "floor": "Floor", "sin": "Sin", "cos": "Cos",
	"exp": "Exp", "ln": "Log", "sqrt": "Sqrt", "inv": "Reciprocal", "tanh": "Tanh",
	"sigmoid": "Sigmoid", "softplus": "Softplus", "relu": "Relu", "elu": "Elu",
}

// binaries are the functions of two numbers, by the names of graph.Binary.
var binaries = map[string]string{
	"+": "Add", "-": "Sub", "⊙": "Mul", "÷": "Div", "^": "Pow",
	"<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual", "==": "Equal", "!=": "Equal",
}

func (n *network) unary(at int, s *graph.Step, o graph.Unary) {
	x := n.value(s.Args[0])
	var y string
	switch name := o.String(); name {
	case "square":
		y = n.of("Mul", x.name, x.name)
	case "cube":
		y = n.of("Mul", n.of("Mul", x.name, x.name), x.name)
	case "log1p":
		y = n.of("Log", n.of("Add", x.name, n.float(1)))
	case "expm1":
		y = n.of("Sub", n.of("Exp", x.name), n.float(1))
	case "silu":
		y = n.of("Mul", x.name, n.of("Sigmoid", x.name))
	case "gelu": // x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2
		cube := n.of("Mul", n.of("Mul", x.name, x.name), x.name)
		inner := n.of("Add", x.name, n.of("Mul", cube, n.float(0.044715)))
		t := n.of("Tanh", n.of("Mul", inner, n.float(float32(math.Sqrt(2/math.Pi)))))
		y = n.of("Mul", n.of("Mul", x.name, n.float(0.5)), n.of("Add", t, n.float(1)))
	case "gelu_erf": // x·(1 + erf(x/√2))/2
		e := n.of("Erf", n.of("Mul", x.name, n.float(float32(1/math.Sqrt2))))
		y = n.of("Mul", n.of("Mul", x.name, n.float(0.5)), n.of("Add", e, n.float(1)))
	default:
		op, ok := plainUnaries[name]
		if !ok {
			n.fail(structured.BadInput("function %q has no translation to ONNX", name))
			return
		}
		y = n.of(op, x.name)
	}
	n.values[at] = array{y, x.shape}
}

func (n *network) binary(at int, s *graph.Step, o graph.Binary) {
	name := o.String()
	op, ok := binaries[name]
	if !ok {
		n.fail(structured.BadInput("function %q has no translation to ONNX", name))
		return
	}
	for i, x := range s.Args {
		if _, mask := n.flow.Steps[x].Op.(graph.Mask); mask {
			if name != "⊙" {
				n.fail(structured.BadInput("a mask of dropout in %q has no translation to ONNX", name))
				return
			}
			n.values[at] = n.value(s.Args[1-i])
			return
		}
	}
	shape, args := []int{s.N}, make([]string, 2)
	if a := s.Rows; !a.Free() {
		shape = []int{a.Outer, a.Rows, a.Inner}
		if a.Outer == 1 {
			shape = shape[1:]
		}
	}
	for i, x := range s.Args {
		switch {
		case s.Rows.Free(), !n.flow.Steps[x].Rows.Free():
			args[i] = n.in(x, shape...)
		default:
			args[i] = n.along(x, s.Rows)
			if s.Rows.Outer == 1 {
				args[i] = n.bias(x, args[i], s.Rows.Inner)
			}
		}
	}
	y := n.of(op, args...)
	if name == "!=" {
		y = n.of("Not", y)
	}
	if !map[string]bool{"Add": true, "Sub": true, "Mul": true, "Div": true, "Pow": true}[op] {
		y = n.cast(y, format.Float)
	}
	n.set(at, y, shape...)
}

// bias gives one row, which along returned, the shape of a vector, so that runtimes fuse it with a matrix product.
func (n *network) bias(at int, row string, cols int) string {
	if e, ok := n.flow.Steps[at].Op.(graph.Expand); ok {
		x := n.flow.Steps[at].Args[0]
		if n.flow.Steps[x].N == 1 {
			return n.in(x, 1)
		}
		if e.Outer == 1 && e.Inner == cols {
			return n.in(x, cols)
		}
	}
	return n.reshape(row, cols)
}
