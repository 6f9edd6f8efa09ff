package nets

// binary is an elementwise op of two arrays of one size. Either argument may be an expand, which is then read in place.
type binary struct{ f *binaryFunc }

func (o binary) String() string { return o.f.name }

func (o binary) tangent(b *builder, v *value, d []*value) *value { return o.f.tangent(b, v, d) }

func (o binary) run(m *machine, in *instruction) {
	out, x, y := m.at(in.out), m.at(in.args[0].buffer), m.at(in.args[1].buffer)
	ex, ey := in.args[0].expand, in.args[1].expand
	switch {
	case ex.repeat == 0 && ey.repeat == 0:
		o.f.vv(out, x, y)
	case ey.repeat != 0:
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

// binary applies f; a scalar argument is spread over the other.
func (b *builder) binary(f *binaryFunc, x, y *value) *value {
	switch {
	case x.size() != y.size() && x.size() == 1:
		x = b.expand(x, expand{1, y.size(), 1}, y.shape)
	case x.size() != y.size() && y.size() == 1:
		y = b.expand(y, expand{1, x.size(), 1}, x.shape)
	}
	shape := x.shape
	if len(shape) < len(y.shape) {
		shape = y.shape
	}
	return b.add(binary{f}, shape, x, y)
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

// binaryFunc is a function of two numbers over slices: of two vectors, a vector and a number, a number and a vector.
type binaryFunc struct {
	name       string
	vv         func(out, x, y []float32)
	vs         func(out, x []float32, y float32)
	sv         func(out []float32, x float32, y []float32)
	tangent    func(b *builder, v *value, d []*value) *value
	arithmetic bool // not a comparison, which Gorgonia may also mean as a boolean
}

// unary is an elementwise function of one array.
type unary struct{ f *unaryFunc }

func (o unary) String() string { return o.f.name }

// tangent is f'(x)·ẋ.
func (o unary) tangent(b *builder, v *value, d []*value) *value {
	if o.f.slope == nil {
		return nil
	}
	return b.slope(o.f, v.args[0], v, d[0])
}

func (o unary) run(m *machine, in *instruction) {
	o.f.apply(m.at(in.out), m.at(in.args[0].buffer), m.scratch[:])
}

// unaryFunc is a function of one number over slices. Its derivative is a function of the argument x or, with ofResult,
// of the result y, and slope multiplies g by it: out = g·f'. A nil slope is a derivative that is zero wherever it exists.
type unaryFunc struct {
	name     string
	apply    func(out, x, scratch []float32) // scratch: block entries
	slope    func(out, s, g []float32)
	ofResult bool
}

// slope multiplies by the derivative of a unary function.
type slope struct{ f *unaryFunc }

func (o slope) String() string { return o.f.name + "'" }

// tangent is that of the product f'(s)·g in its linear factor g: only first derivatives are ever asked for.
func (o slope) tangent(b *builder, v *value, d []*value) *value {
	if d[1] == nil {
		return nil
	}
	return b.add(o, v.shape, v.args[0], d[1])
}

func (o slope) run(m *machine, in *instruction) {
	o.f.slope(m.at(in.out), m.at(in.args[0].buffer), m.at(in.args[1].buffer))
}

func (b *builder) slope(f *unaryFunc, x, y, g *value) *value {
	if f.ofResult {
		x = y
	}
	return b.add(slope{f}, g.shape, x, g)
}

// assign copies its argument, or adds it where accumulate is set. It has no values: the planner makes it.
type assign struct{}

func (assign) String() string                            { return "assign" }
func (assign) tangent(*builder, *value, []*value) *value { return nil }

func (assign) run(m *machine, in *instruction) {
	out, x, e := m.at(in.out), m.at(in.args[0].buffer), in.args[0].expand
	switch {
	case e.repeat == 0 && in.accumulate:
		fast.add(out, out, x)
	case e.repeat == 0:
		copy(out, x)
	default:
		e.segments(func(lo, hi, at int, scalar bool) {
			switch {
			case in.accumulate && scalar:
				addition.vs(out[lo:hi], out[lo:hi], x[at])
			case in.accumulate:
				fast.add(out[lo:hi], out[lo:hi], x[at:at+hi-lo])
			case scalar:
				fill(out[lo:hi], x[at])
			default:
				copy(out[lo:hi], x[at:at+hi-lo])
			}
		})
	}
}

func fill(out []float32, x float32) {
	for i := range out {
		out[i] = x
	}
}
