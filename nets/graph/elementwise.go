package graph

import "github.com/dsp-go/dsp/nets/kernels"

// Binary applies a function of two numbers, entry by entry, to two arrays of equal size. Either argument may be an
// Expand, which is read in place. String returns the name of the function.
type Binary struct{ f *binaryFunc }

func (o Binary) String() string { return o.f.name }

func (o Binary) tangent(b *builder, v *value, d []*value) *value { return o.f.tangent(b, v, d) }

func (o Binary) Run(m *Machine, in *Instruction) {
	out, x, y := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	ex, ey := in.Args[0].Expand, in.Args[1].Expand
	switch {
	case ex.Repeat == 0 && ey.Repeat == 0:
		o.f.vv(out, x, y)
	case ey.Repeat != 0:
		ey.segments(func(lo, hi, at int, scalar bool) {
			if scalar {
				o.f.vs(out[lo:hi], x[lo:hi], y[at])
			} else {
				o.f.vv(out[lo:hi], x[lo:hi], y[at:at+hi-lo])
			}
		})
	default:
		ex.segments(func(lo, hi, at int, scalar bool) {
			if scalar {
				o.f.sv(out[lo:hi], x[at], y[lo:hi])
			} else {
				o.f.vv(out[lo:hi], x[at:at+hi-lo], y[lo:hi])
			}
		})
	}
}

// binary applies f to x and y. A scalar is repeated to the size of the other argument.
func (b *builder) binary(f *binaryFunc, x, y *value) *value {
	switch {
	case x.size() != y.size() && x.size() == 1:
		x = b.expand(x, Expand{1, y.size(), 1}, y.shape)
	case x.size() != y.size() && y.size() == 1:
		y = b.expand(y, Expand{1, x.size(), 1}, x.shape)
	}
	shape := x.shape
	if len(shape) < len(y.shape) {
		shape = y.shape
	}
	return b.add(Binary{f}, shape, x, y)
}

// sum adds two tangents, either of which may be nil (zero).
func (b *builder) sum(x, y *value) *value {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return b.binary(addition, x, y)
}

// binaryFunc applies a function of two numbers to slices: vector and vector (vv), vector and scalar (vs), scalar and
// vector (sv).
type binaryFunc struct {
	name       string
	vv         func(out, x, y []float32)
	vs         func(out, x []float32, y float32)
	sv         func(out []float32, x float32, y []float32)
	tangent    func(b *builder, v *value, d []*value) *value
	arithmetic bool // false for comparisons, whose result may be boolean in Gorgonia
}

// Unary applies a function of one number to each entry of an array. String returns the name of the function.
type Unary struct{ f *unaryFunc }

func (o Unary) String() string { return o.f.name }

// tangent is f'(x)·ẋ.
func (o Unary) tangent(b *builder, v *value, d []*value) *value {
	if o.f.slope == nil {
		return nil
	}
	return b.slope(o.f, v.args[0], v, d[0])
}

func (o Unary) Run(m *Machine, in *Instruction) {
	o.f.apply(m.At(in.Out), m.At(in.Args[0].Buffer), m.scratch[:])
}

// unaryFunc applies a function f of one number to slices. slope computes out = g·f', with f' a function of the argument
// x or, with ofResult, of the result y. A nil slope means that the derivative is zero wherever it exists.
type unaryFunc struct {
	name     string
	apply    func(out, x, scratch []float32) // scratch has kernels.Block entries
	slope    func(out, s, g, scratch []float32)
	ofResult bool
}

// Slope computes g·f′(s) from arguments s and g, where s is the argument of the unary function f or, with ofResult, its
// result. String returns the name of the function with a prime.
type Slope struct{ f *unaryFunc }

func (o Slope) String() string { return o.f.name + "'" }

// tangent differentiates f'(s)·g in g only: the program needs no second derivatives.
func (o Slope) tangent(b *builder, v *value, d []*value) *value {
	if d[1] == nil {
		return nil
	}
	return b.add(o, v.shape, v.args[0], d[1])
}

func (o Slope) Run(m *Machine, in *Instruction) {
	o.f.slope(m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer), m.scratch[:])
}

func (b *builder) slope(f *unaryFunc, x, y, g *value) *value {
	if f.ofResult {
		x = y
	}
	return b.add(Slope{f}, g.shape, x, g)
}

// Assign copies its argument, or adds it if Accumulate is set. Only the planner makes it; no value has this op.
type Assign struct{}

func (Assign) String() string                            { return "assign" }
func (Assign) tangent(*builder, *value, []*value) *value { return nil }

func (Assign) Run(m *Machine, in *Instruction) {
	out, x, e := m.At(in.Out), m.At(in.Args[0].Buffer), in.Args[0].Expand
	switch {
	case e.Repeat == 0 && in.Accumulate:
		kernels.Rows.Add(out, out, x)
	case e.Repeat == 0:
		copy(out, x)
	default:
		e.segments(func(lo, hi, at int, scalar bool) {
			switch {
			case in.Accumulate && scalar:
				addition.vs(out[lo:hi], out[lo:hi], x[at])
			case in.Accumulate:
				kernels.Rows.Add(out[lo:hi], out[lo:hi], x[at:at+hi-lo])
			case scalar:
				kernels.Numbers.Fill(out[lo:hi], x[at])
			default:
				copy(out[lo:hi], x[at:at+hi-lo])
			}
		})
	}
}
