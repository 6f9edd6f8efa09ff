package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// RowOp is an op of the user's own: plain Go functions that compute one row of the result from the same row of each
// input. It runs on the CPU; a CUDA device refuses the network and names the op. netstest.CheckOp checks the
// derivatives.
//
// The functions are called for one row at a time, from several goroutines at once: they may read but not write
// variables outside. x[i] is the row of input i, with as many numbers as the input has columns. An input that is a
// vector is shared: every row gets all of it. y is the row of the result, with Width numbers. Rows of padding get some
// input, too, and must not panic.
type RowOp struct {
	Name  string // names the op in messages and tables
	Width int    // numbers in a row of the result

	// Forward computes y from x. y holds zeros at first.
	Forward func(x [][]float32, y []float32)
	// Pullback adds Jᵀdy to dx, with J = ∂y/∂x, from x and y = Forward(x): dx[i], as long as x[i], gets Σ_j
	// dy[j]·∂y[j]/∂x[i].
	Pullback func(x [][]float32, y, dy []float32, dx [][]float32)
	// Push computes dy = J dx, from x and y = Forward(x): dy[j] is Σ_i ⟨∂y[j]/∂x[i], dx[i]⟩. dy holds zeros at first.
	Push func(x, dx [][]float32, y, dy []float32)
}

// Own applies an op of the user's own. Each input is [M×C], with the same M for all, or a vector [C] that all rows
// share (a parameter, say); at least one has rows. The result is [M×op.Width].
func (g *Graph) Own(op RowOp, inputs ...*gorgonia.Node) (*gorgonia.Node, error) {
	o := Own{RowOp: &op}
	switch {
	case op.Name == "":
		return nil, fmt.Errorf("nets: Own: the op has no Name")
	case op.Width < 1:
		return nil, fmt.Errorf("nets: Own: op %q has Width %d, expected at least 1", op.Name, op.Width)
	case op.Forward == nil || op.Pullback == nil || op.Push == nil:
		return nil, fmt.Errorf("nets: Own: op %q lacks a function: it needs Forward, Pullback and Push", op.Name)
	}
	for i, n := range inputs {
		s := n.Shape()
		switch {
		case len(s) == 1:
			o.inputs = append(o.inputs, ownInput{s[0], true})
		case len(s) != 2 || o.rows > 0 && s[0] != o.rows:
			return nil, fmt.Errorf("nets: Own: input %d of op %q has shape %v, expected rows [M×C], as many as the other "+
				"inputs have, or a vector [C]", i, op.Name, s)
		default:
			o.inputs, o.rows = append(o.inputs, ownInput{s[1], false}), s[0]
		}
	}
	if o.rows == 0 {
		return nil, fmt.Errorf("nets: Own: op %q needs an input with rows", op.Name)
	}
	g.own(op.Name)
	node := &fusedOp{
		name:    op.Name,
		out:     tensor.Shape{o.rows, op.Width},
		eval:    func(args [][]float64, out []float64) { o.evaluate(args, out, o.forward) },
		lowered: func(b *builder, args []*value) *value { return b.add(o, []int{o.rows, op.Width}, args...) },
	}
	node.pull = func(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		all := &fusedOp{ // the cotangents of all inputs, one after another
			name:    op.Name + " pullback",
			out:     tensor.Shape{o.total()},
			eval:    func(args [][]float64, out []float64) { o.evaluate(args, out, o.pullback) },
			lowered: func(b *builder, args []*value) *value { return b.add(OwnPull{o}, []int{o.total()}, args...) },
		}
		joined, err := all.apply(append(append(gorgonia.Nodes(nil), inputs...), output, grad)...)
		if err != nil {
			return nil, err
		}
		var cotangents gorgonia.Nodes
		at := 0
		for i, n := range inputs {
			part := o.cotangent(i, at, n.Shape().Clone())
			c, err := part.apply(joined)
			if err != nil {
				return nil, err
			}
			cotangents = append(cotangents, c)
			at += o.size(i)
		}
		return cotangents, nil
	}
	return node.apply(inputs...)
}

// own records that the graph has an op of the user's own.
func (g *Graph) own(name string) {
	for _, known := range g.needs.OwnOps {
		if known == name {
			return
		}
	}
	g.needs.OwnOps = append(g.needs.OwnOps, name)
}

// Own runs a RowOp on all rows. Its arguments are the inputs.
type Own struct {
	*RowOp
	inputs []ownInput
	rows   int
}

// ownInput is the shape of an input: rows of cols numbers, or one vector for all rows.
type ownInput struct {
	cols   int
	shared bool
}

func (o Own) String() string { return o.Name }

// size returns how many numbers input i has.
func (o Own) size(i int) int {
	if o.inputs[i].shared {
		return o.inputs[i].cols
	}
	return o.rows * o.inputs[i].cols
}

// total returns how many numbers all inputs have.
func (o Own) total() int {
	n := 0
	for i := range o.inputs {
		n += o.size(i)
	}
	return n
}

// cotangent takes the cotangent of input i out of those of all inputs.
func (o Own) cotangent(i, at int, shape tensor.Shape) *fusedOp {
	n := o.size(i)
	return &fusedOp{
		name: o.Name + " pullback",
		out:  shape,
		eval: func(args [][]float64, out []float64) { copy(out, args[0][at:at+n]) },
		lowered: func(b *builder, args []*value) *value {
			return b.add(Slice{Outer: 1, Size: o.total(), Inner: 1, Lo: at, Step: 1, Count: n}, shape, args[0])
		},
	}
}

func (o Own) tangent(b *builder, v *value, d []*value) *value {
	args := append([]*value(nil), v.args...)
	args = append(args, v)
	for i, t := range d {
		args = append(args, b.orZero(t, v.args[i]))
	}
	return b.add(OwnPush{o}, v.shape, args...)
}

func (o Own) Run(m *Machine, in *Instruction) {
	defer o.blame()
	o.forward(&m.own, m.arguments(in), m.At(in.Out))
}

func (o Own) forward(w *ownScratch, args [][]float32, out []float32) {
	clear(out)
	x, _ := w.rows(len(o.inputs))
	for r := range o.rows {
		o.row(x, args, r)
		o.Forward(x, out[r*o.Width:(r+1)*o.Width])
	}
}

// row sets x to row r of the inputs.
func (o Own) row(x, args [][]float32, r int) {
	for i, in := range o.inputs {
		if in.shared {
			x[i] = args[i]
		} else {
			x[i] = args[i][r*in.cols : (r+1)*in.cols]
		}
	}
}

// blame names the op in a panic of one of its functions.
func (o Own) blame() {
	if v := recover(); v != nil {
		panic(fmt.Sprintf("op %q of the network: %v", o.Name, v))
	}
}

// OwnPull is the pullback of Own to all inputs, whose cotangents it writes one after another. Its arguments are the
// inputs, the result and its cotangent.
type OwnPull struct{ Own }

func (o OwnPull) String() string { return o.Name + " pullback" }

func (o OwnPull) tangent(*builder, *value, []*value) *value { return nil }

func (o OwnPull) Run(m *Machine, in *Instruction) {
	defer o.blame()
	o.pullback(&m.own, m.arguments(in), m.At(in.Out))
}

func (o Own) pullback(w *ownScratch, args [][]float32, out []float32) {
	clear(out)
	n := len(o.inputs)
	x, dx := w.rows(n)
	w.to = w.to[:0]
	for i := range n {
		size := o.size(i)
		w.to, out = append(w.to, out[:size]), out[size:]
	}
	for r := range o.rows {
		o.row(x, args, r)
		o.row(dx, w.to, r)
		lo, hi := r*o.Width, (r+1)*o.Width
		o.Pullback(x, args[n][lo:hi], args[n+1][lo:hi], dx)
	}
}

// OwnPush is the push-forward of Own. Its arguments are the inputs, the result and the tangents of the inputs.
type OwnPush struct{ Own }

func (o OwnPush) String() string { return o.Name + " push" }

func (o OwnPush) tangent(*builder, *value, []*value) *value { return nil }

func (o OwnPush) Run(m *Machine, in *Instruction) {
	defer o.blame()
	args, out := m.arguments(in), m.At(in.Out)
	clear(out)
	n := len(o.inputs)
	x, dx := m.own.rows(n)
	for r := range o.rows {
		o.row(x, args, r)
		o.row(dx, args[n+1:], r)
		lo, hi := r*o.Width, (r+1)*o.Width
		o.Push(x, dx, args[n][lo:hi], out[lo:hi])
	}
}

// ownScratch is the scratch memory of ops of the user's own.
type ownScratch struct {
	args, to, x, dx [][]float32
}

// rows returns two lists of n rows.
func (w *ownScratch) rows(n int) (x, dx [][]float32) {
	if len(w.x) < n {
		w.x, w.dx = make([][]float32, n), make([][]float32, n)
	}
	return w.x[:n], w.dx[:n]
}

// arguments returns the arrays that an instruction reads.
func (m *Machine) arguments(in *Instruction) [][]float32 {
	m.own.args = m.own.args[:0]
	for _, a := range in.Args {
		m.own.args = append(m.own.args, m.At(a.Buffer))
	}
	return m.own.args
}

// evaluate runs f in float32, for Gorgonia's machines.
func (o Own) evaluate(args [][]float64, out []float64, f func(w *ownScratch, args [][]float32, out []float32)) {
	small := make([][]float32, len(args))
	for i, a := range args {
		small[i] = make([]float32, len(a))
		for j, x := range a {
			small[i][j] = float32(x)
		}
	}
	result := make([]float32, len(out))
	f(new(ownScratch), small, result)
	for i, x := range result {
		out[i] = float64(x)
	}
}

// ownAxis is the axis of an op of the user's own: each row of the result depends on the same row of the inputs.
func (r *rowAxes) ownAxis(v *value, o Own, args []axis) (axis, bool) {
	out := axis{}
	for i, a := range args {
		switch {
		case o.inputs[i].shared:
			if !a.free() {
				return axis{}, false
			}
		case a.free():
		case a.outer != 1 || o.rows%a.rows != 0 || !out.free() && out.rows != a.rows:
			return axis{}, false
		default:
			a.inner = v.size() / a.rows
			out = a
		}
	}
	for i, a := range args {
		if a.free() && !o.inputs[i].shared && !r.uniform(v.args[i], axis{1, out.rows, v.args[i].size() / out.rows, out.of}) {
			return axis{}, false
		}
	}
	return out, true
}
