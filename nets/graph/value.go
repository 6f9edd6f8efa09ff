package graph

import "fmt"

// value is one array of a program under construction: the op that computes it, the values it is computed from, and its
// shape. Arrays are dense and row-major.
type value struct {
	id    int
	op    Op
	args  []*value
	shape []int
}

func (v *value) size() int { return product(v.shape) }

// Op computes a value. What is fixed at compile time (sizes, axes, flags) is in its fields.
type Op interface {
	fmt.Stringer
	// tangent returns the directional derivative of v = op(args), given the derivatives d of its arguments, built from
	// new values of b. A nil derivative means zero; at least one of d is not nil.
	tangent(b *builder, v *value, d []*value) *value
	// Run computes in.out from in.args.
	Run(m *Machine, in *Instruction)
}

// accumulator is an op that adds to its output as cheaply as it overwrites it.
type accumulator interface{ accumulates() }

// builder makes values. Its methods simplify as they go: a view of a view, a transposed factor of a matrix product.
type builder struct {
	values   []*value
	literals []float32
}

func (b *builder) add(o Op, shape []int, args ...*value) *value {
	v := &value{id: len(b.values), op: o, args: args, shape: shape}
	b.values = append(b.values, v)
	return v
}

func product(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// Space is where an array lives.
type Space uint8

// The spaces.
const (
	SpaceArena            Space = iota // the worker's scratch memory
	SpaceLiterals                      // constants of the graph
	SpaceWeights                       // w
	SpaceDirection                     // ẇ
	SpaceGradient                      // the gradient, to which Jᵀv is added
	SpaceFeatures                      // dense inputs [rows×Dim]
	SpaceBoundary                      // [rows×2]: 1 where an example starts; 1 where one ends
	SpaceEdges                         // dense inputs of edges [pairs×EdgeDim]
	SpaceEncoded                       // rows of positions that an encoder computes [rows×Encoded]
	SpaceEncodedDirection              // their directional derivatives
	SpaceCotangent                     // cotangent of part 0 of the potentials; part k has SpaceCotangent + k
)

// SpaceVectors holds the vectors of words [V×Dim]. Only lookups of rows read it, so the other ops need not know it.
const SpaceVectors = ^Space(0)

// SpaceFixed holds weights that stay as they are (Input.Fixed). Programs for the CPU alone read it.
const SpaceFixed = SpaceVectors - 1

// leaf is an input array: it starts at an offset of a space.
type leaf struct {
	space  Space
	offset int
}

func (leaf) String() string                                  { return "leaf" }
func (leaf) tangent(*builder, *value, []*value) *value       { return nil }
func (leaf) Run(*Machine, *Instruction)                      {}
func (b *builder) leaf(s Space, off int, shape []int) *value { return b.add(leaf{s, off}, shape) }

func (b *builder) literal(xs []float32, shape []int) *value {
	v := b.leaf(SpaceLiterals, len(b.literals), shape)
	b.literals = append(b.literals, xs...)
	return v
}

func (b *builder) scalar(x float32) *value { return b.literal([]float32{x}, nil) }

// view gives its argument another shape.
type view struct{}

func (view) String() string { return "view" }
func (view) tangent(b *builder, v *value, d []*value) *value {
	return b.view(d[0], v.shape)
}
func (view) Run(*Machine, *Instruction) {}

func (b *builder) view(x *value, shape []int) *value {
	if sameShape(x.shape, shape) {
		return x
	}
	if _, ok := x.op.(view); ok {
		x = x.args[0]
	}
	return b.add(view{}, shape, x)
}

func sameShape(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
