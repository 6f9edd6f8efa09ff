package graph

import (
	"fmt"

	"github.com/dsp-go/dsp/nets/kernels"
)

// This file fuses the ops of forward programs: products with weights take the bias, the activation and the addition of
// another array with them, products that share their left factor become one, and layer norms become one op. The
// formulas are those of the ops they replace.

// Linear is f(x·Wᵀ + b) + r, row by row, for weights W [N×K] and b [N]; b, f and r may be missing. With several parts,
// each has a W and b of its own, and the results lie side by side. Arguments are x, then W and b of each part, then r.
// Padding rows get zeros.
type Linear struct {
	Rows, K  int
	Parts    []LinearPart
	f        *unaryFunc
	Residual bool
}

// LinearPart is one matrix of weights of a Linear.
type LinearPart struct {
	N    int
	Bias bool
}

func (o Linear) width() int {
	n := 0
	for _, p := range o.Parts {
		n += p.N
	}
	return n
}

func (o Linear) String() string {
	name := fmt.Sprintf("linear %d→%d", o.K, o.width())
	if o.f != nil {
		name += " " + o.f.name
	}
	if o.Residual {
		name += " residual"
	}
	return name
}

func (o Linear) tangent(*builder, *value, []*value) *value { return nil }

func (o Linear) Run(m *Machine, in *Instruction) {
	out, x, width := m.At(in.Out), m.At(in.Args[0].Buffer), o.width()
	rows, arg, column := m.positions(), 1, 0
	var residual []float32
	if o.Residual {
		residual = m.At(in.Args[len(in.Args)-1].Buffer)
	}
	if m.Factors.Int8 {
		m.rounded.Round(x[:rows*o.K], rows, o.K)
	}
	for _, part := range o.Parts {
		w := in.Args[arg].Buffer
		arg++
		var bias []float32
		if part.Bias {
			bias = m.At(in.Args[arg].Buffer)
			arg++
		}
		// around returns what surrounds the product of the rows from lo on.
		around := func(lo int) (start, finish func(c []float32, row, at int)) {
			added := func(row, at, n int) []float32 { return residual[(lo+row)*width+column+at:][:n] }
			switch {
			case bias != nil && residual != nil && o.f == nil:
				start = func(c []float32, row, at int) { kernels.Rows.Add(c, bias[at:at+len(c)], added(row, at, len(c))) }
			case residual != nil && o.f == nil:
				start = func(c []float32, row, at int) { copy(c, added(row, at, len(c))) }
			}
			if o.f != nil {
				finish = func(c []float32, row, at int) {
					o.f.apply(c, c, m.scratch[:])
					if residual != nil {
						kernels.Rows.Add(c, c, added(row, at, len(c)))
					}
				}
			}
			return start, finish
		}
		if m.Factors.Int8 {
			start, finish := around(0)
			m.Factors.int8(m.Mem[w.Space], w.Offset, part.N, o.K).Times(&m.rounded, rows, out[column:],
				width, bias, start, finish)
			column += part.N
			continue
		}
		factor := m.Factors.of(m.Mem[w.Space], w.Offset, part.N, o.K)
		run := func(lo, hi int) {
			start, finish := around(lo)
			factor.Times(m.BLAS, hi-lo, x[lo*o.K:hi*o.K], out[lo*width+column:], width, &m.product, bias, start, finish)
		}
		if factor.RowByRow() {
			run(0, rows)
		} else { // an example has the same bits in every batch
			for _, r := range m.eachExample() {
				run(r.lo, r.hi)
			}
		}
		column += part.N
	}
	clear(out[rows*width:])
}

// LayerNorm is Normalise times a gain, plus a bias if there is one. Arguments are x, the gain and the bias. Padding
// rows get zeros.
type LayerNorm struct {
	Normalise
	Bias bool
}

func (o LayerNorm) String() string { return fmt.Sprintf("layer norm %d×(%d)", o.Rows, o.Cols) }

func (o LayerNorm) tangent(*builder, *value, []*value) *value { return nil }

func (o LayerNorm) Run(m *Machine, in *Instruction) {
	out, x, gain := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	var bias []float32
	if o.Bias {
		bias = m.At(in.Args[2].Buffer)
	}
	rows := m.positions() * o.Cols
	clear(out[rows:])
	for at := 0; at < rows; at += o.Cols {
		to := out[at : at+o.Cols]
		kernels.Numbers.Mul(to, to, centre(to, x[at:at+o.Cols], o.Floor))
		if bias != nil {
			kernels.Gates.MulAdd(to, to, gain, bias)
		} else {
			kernels.Rows.Mul(to, to, gain)
		}
	}
}

// fuse returns values that compute the outputs with fused ops.
func (b *builder) fuse(outputs []*value, axes *rowAxes) []*value {
	f := &fusion{b, axes, map[*value]int{}, map[*value]*value{}}
	for _, v := range outputs {
		if v != nil {
			f.count(v)
		}
	}
	fused := make([]*value, len(outputs))
	for k, v := range outputs {
		if v != nil {
			fused[k] = f.of(v)
		}
	}
	return fused
}

type fusion struct {
	*builder
	axes *rowAxes          // of the values before
	uses map[*value]int    // of the values before
	done map[*value]*value // the fused value of each
}

func (f *fusion) count(v *value) {
	if f.uses[v]++; f.uses[v] > 1 {
		return
	}
	for _, a := range v.args {
		f.count(a)
	}
}

// of returns the fused value of v.
func (f *fusion) of(v *value) *value {
	if w, ok := f.done[v]; ok {
		return w
	}
	args := make([]*value, len(v.args))
	for i, a := range v.args {
		args[i] = f.of(a)
	}
	w := f.apply(v, args)
	f.done[v] = w
	return w
}

// apply returns op(args) of a value with fused arguments, or the op that replaces it.
func (f *fusion) apply(v *value, args []*value) *value {
	switch o := v.op.(type) {
	case MatMul:
		if o.Batch == 1 && !o.TransA && o.TransB && isWeights(args[1]) && f.ofPositions(v.args[0]) {
			return f.add(Linear{Rows: o.M, K: o.K, Parts: []LinearPart{{N: o.N}}}, v.shape, args...)
		}
	case Unary:
		if l, ok := f.linear(v.args[0], args[0]); ok && l.f == nil && !l.Residual && len(l.Parts) == 1 {
			l.f = o.f
			return f.add(l, v.shape, args[0].args...)
		}
	case Binary:
		if o.f == addition {
			if w := f.sum(v, args[0], args[1], v.args[0]); w != nil {
				return w
			}
			if w := f.sum(v, args[1], args[0], v.args[1]); w != nil {
				return w
			}
		}
		if o.f == multiplication {
			if n, ok := args[0].op.(Normalise); ok && f.uses[v.args[0]] == 1 && f.ofPositions(v.args[0]) {
				if gain := rowOf(args[1], n.Rows, n.Cols); gain != nil {
					return f.add(LayerNorm{n, false}, v.shape, args[0].args[0], gain)
				}
			}
		}
	case Concat:
		if w := f.join(v, o, args); w != nil {
			return w
		}
	}
	return f.add(v.op, v.shape, args...)
}

// sum fuses x + y into x, the fused value of before; nil if it cannot.
func (f *fusion) sum(v, x, y, before *value) *value {
	if n, ok := x.op.(LayerNorm); ok && !n.Bias && f.uses[before] == 1 {
		if bias := rowOf(y, n.Rows, n.Cols); bias != nil {
			n.Bias = true
			return f.add(n, v.shape, x.args[0], x.args[1], bias)
		}
	}
	l, ok := f.linear(before, x)
	if !ok || l.Residual || len(l.Parts) != 1 {
		return nil
	}
	part := l.Parts[0]
	if bias := rowOf(y, l.Rows, part.N); bias != nil {
		if l.f != nil || part.Bias {
			return nil
		}
		l.Parts = []LinearPart{{part.N, true}}
		return f.add(l, v.shape, append(x.args[:len(x.args):len(x.args)], bias)...)
	}
	if e, _ := expanded(y); e.Repeat != 0 {
		return nil
	}
	l.Residual = true
	return f.add(l, v.shape, append(x.args[:len(x.args):len(x.args)], y)...)
}

// join fuses the concatenation of products that share x.
func (f *fusion) join(v *value, o Concat, args []*value) *value {
	var all Linear
	var to []*value
	for i, a := range args {
		l, ok := f.linear(v.args[i], a)
		if !ok || l.f != nil || l.Residual || o.Outer != l.Rows || i > 0 && a.args[0] != to[0] {
			return nil
		}
		if i == 0 {
			all, to = Linear{Rows: l.Rows, K: l.K}, a.args[:1:1]
		}
		all.Parts = append(all.Parts, l.Parts...)
		to = append(to, a.args[1:]...)
	}
	return f.add(all, v.shape, to...)
}

// linear returns the Linear that computes x, if nothing else reads the value before.
func (f *fusion) linear(before, x *value) (Linear, bool) {
	l, ok := x.op.(Linear)
	return l, ok && f.uses[before] == 1
}

// ofPositions reports whether each row of the matrix v belongs to a position.
func (f *fusion) ofPositions(v *value) bool {
	a := f.axes.known[v]
	return a.rows == f.axes.size.Rows && a.outer == 1 && a.of == RowsOfPositions
}

// isWeights reports whether v is an array of parameters.
func isWeights(v *value) bool {
	l, ok := v.op.(leaf)
	return ok && l.space == SpaceWeights
}

// rowOf returns the vector of which every row of v [rows×cols] is a copy; nil if v is something else.
func rowOf(v *value, rows, cols int) *value {
	e, x := expanded(v)
	if x == nil || e != (Expand{1, rows, cols}) || x.size() != cols {
		return nil
	}
	return x
}
