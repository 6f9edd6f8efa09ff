package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/exchange/onnx/format"
)

// builder collects the nodes of a graph. Arrays are known by their names. The first error sticks.
type builder struct {
	*shared
	nodes    []*format.Node
	reshaped map[string]string
}

// shared is what the bodies of loops share with the graph around them.
type shared struct {
	initializers []*format.Tensor
	constants    map[string]string // names by what they hold
	used         map[string]int
	prefix       string // of all names but those of inputs and outputs
	err          error
}

func newBuilder() *builder {
	return &builder{shared: &shared{constants: map[string]string{}, used: map[string]int{}}, reshaped: map[string]string{}}
}

// body returns the builder of the body of a loop. It may read every array made before.
func (b *builder) body() *builder {
	return &builder{shared: b.shared, reshaped: map[string]string{}}
}

// fail records an error.
func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// name returns a name like the one wanted that nothing has.
func (b *builder) name(wanted string) string {
	wanted = b.prefix + wanted
	for {
		n := b.used[wanted]
		b.used[wanted]++
		if n == 0 {
			return wanted
		}
		wanted = fmt.Sprintf("%s_%d", wanted, n)
	}
}

// reserve keeps names for inputs and outputs.
func (b *builder) reserve(names ...string) {
	for _, name := range names {
		b.used[name]++
	}
}

// attribute is an attribute of a node.
type attribute = *format.Attribute

func integer(name string, x int) attribute {
	return &format.Attribute{Name: name, Type: format.IntAttribute, Int: new(int64(x))}
}

func integers(name string, xs ...int) attribute {
	return &format.Attribute{Name: name, Type: format.IntsAttribute, Ints: int64s(xs)}
}

func realNumber(name string, x float32) attribute {
	return &format.Attribute{Name: name, Type: format.FloatAttribute, Float: &x}
}

func subgraph(name string, g *format.Graph) attribute {
	return &format.Attribute{Name: name, Type: format.GraphAttribute, Graph: g}
}

// add adds a node with one output and returns the output's name.
func (b *builder) add(op string, inputs []string, attributes ...attribute) string {
	return b.addAs(b.name(strings.ToLower(op)), op, inputs, attributes...)
}

// addAs is add for an output with the given name.
func (b *builder) addAs(output, op string, inputs []string, attributes ...attribute) string {
	b.addMany([]string{output}, op, inputs, attributes...)
	return output
}

func (b *builder) addMany(outputs []string, op string, inputs []string, attributes ...attribute) {
	b.nodes = append(b.nodes, &format.Node{
		Op: op, Name: outputs[0], Inputs: inputs, Outputs: outputs, Attributes: attributes,
	})
}

// of is add without attributes.
func (b *builder) of(op string, inputs ...string) string { return b.add(op, inputs) }

// ints returns a constant vector of int64.
func (b *builder) ints(xs ...int) string {
	return b.constant(fmt.Sprint("ints", xs), "ints", format.Int64, []int{len(xs)}, int64Bytes(xs))
}

// int returns a constant of int64 without dimensions.
func (b *builder) int(x int) string {
	return b.constant(fmt.Sprint("int", x), "int", format.Int64, nil, int64Bytes([]int{x}))
}

// float returns a constant of float32 without dimensions.
func (b *builder) float(x float32) string {
	return b.constant(fmt.Sprint("float", math.Float32bits(x)), "float", format.Float, nil, floatBytes([]float32{x}))
}

// double returns a constant vector of float64.
func (b *builder) double(xs ...float64) string {
	raw := make([]byte, 0, 8*len(xs))
	for _, x := range xs {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
	}
	return b.constant("double"+string(raw), "double", format.Double, []int{len(xs)}, raw)
}

// bools returns a constant of booleans.
func (b *builder) bools(xs []bool, shape ...int) string {
	raw := make([]byte, len(xs))
	for i, x := range xs {
		if x {
			raw[i] = 1
		}
	}
	return b.constant(fmt.Sprint("bool", shape, raw), "bool", format.Bool, shape, raw)
}

// floats makes an array of weights.
func (b *builder) floats(name string, xs []float32, shape ...int) string {
	if size := product(shape); size != len(xs) {
		b.fail(fmt.Errorf("onnx: %s has %d numbers, its shape %v has %d", name, len(xs), shape, size))
	}
	return b.initializer(name, format.Float, shape, floatBytes(xs))
}

// constant returns the constant of that key, which it makes the first time.
func (b *builder) constant(key, name string, kind format.DataType, shape []int, raw []byte) string {
	if at, ok := b.constants[key]; ok {
		return at
	}
	b.constants[key] = b.initializer(name, kind, shape, raw)
	return b.constants[key]
}

func (b *builder) initializer(name string, kind format.DataType, shape []int, raw []byte) string {
	name = b.name(name)
	b.initializers = append(b.initializers, &format.Tensor{Name: name, Type: kind, Dims: int64s(shape), Raw: raw})
	return name
}

// reshape gives x a shape with at most one −1. The second call for an array and a shape returns the same array.
func (b *builder) reshape(x string, shape ...int) string {
	key := fmt.Sprint(x, " ", shape)
	if at, ok := b.reshaped[key]; ok {
		return at
	}
	b.reshaped[key] = b.of("Reshape", x, b.ints(shape...))
	return b.reshaped[key]
}

// slice returns entries lo to hi−1 of x along an axis; the end is open for hi = open.
func (b *builder) slice(x string, axis, lo, hi int) string {
	return b.of("Slice", x, b.ints(lo), b.ints(hi), b.ints(axis))
}

// open is the end of a slice that goes to the end.
const open = math.MaxInt64

func (b *builder) cast(x string, to format.DataType) string {
	return b.add("Cast", []string{x}, integer("to", int(to)))
}

func (b *builder) transpose(x string, order ...int) string {
	return b.add("Transpose", []string{x}, integers("perm", order...))
}

func (b *builder) concat(axis int, xs ...string) string {
	if len(xs) == 1 {
		return xs[0]
	}
	return b.add("Concat", xs, integer("axis", axis))
}

func (b *builder) sum(x string, axis int) string {
	return b.add("ReduceSum", []string{x, b.ints(axis)}, integer("keepdims", 0))
}

// max is the largest entry along an axis, which it removes unless keep is set.
func (b *builder) max(x string, axis int, keep bool) string {
	kept := 0
	if keep {
		kept = 1
	}
	return b.add("ReduceMax", []string{x, b.ints(axis)}, integer("keepdims", kept))
}

func (b *builder) gather(x, at string, axis int) string {
	return b.add("Gather", []string{x, at}, integer("axis", axis))
}

// lowest is below every number that a network computes, so that its exponential is zero.
const lowest = -math.MaxFloat32 / 4

var minusInf = float32(math.Inf(-1))

func product(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

func int64s(xs []int) []int64 {
	var to []int64
	for _, x := range xs {
		to = append(to, int64(x))
	}
	return to
}

func int64Bytes(xs []int) []byte {
	raw := make([]byte, 0, 8*len(xs))
	for _, x := range xs {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
	}
	return raw
}

func floatBytes(xs []float32) []byte {
	raw := slices.Grow([]byte(nil), 4*len(xs))
	for _, x := range xs {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return raw
}
