package onnx

import (
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// network translates a network op by op. Its arrays have the entries of the arrays of the Flow, in the same order, for
// B·T rows of positions instead of the Flow's: rows of padding are computed like others, and ops that join rows read
// zeros in their place.
type network struct {
	*inputs
	name   string
	layout graph.Layout
	shape  graph.Input
	w      []float32
	flow   *graph.Flow
	values []array // by step
	valued bool    // attributes have values
	most   int     // rows of an example, 0 if unknown
}

// array is the result of a step: its name and the shape that it has at present, with −1 for the axis of the rows.
type array struct {
	name  string
	shape []int
}

// translate adds the network to the graph. It returns the potentials by part, empty where they are zero.
func (n *network) translate() ([]potentials, error) {
	n.values = make([]array, len(n.flow.Steps))
	for at := range n.flow.Steps {
		n.step(at, &n.flow.Steps[at])
		if n.err != nil {
			return nil, fmt.Errorf("network %q: %w", n.name, n.err)
		}
	}
	parts := make([]potentials, len(n.flow.Outputs))
	for k, at := range n.flow.Outputs {
		if at >= 0 {
			parts[k] = n.output(at, n.flow.Form.Parts[k])
		}
	}
	return parts, n.err
}

// output returns the potentials of a part, padded: [B×T×Y] for rows of positions.
func (n *network) output(at int, part structured.Shape) potentials {
	switch {
	case part.Rows == structured.Tied:
		return potentials{n.in(at, part.Width), nil}
	case !graph.PairTable(part.Rows):
		x := n.rows(at, graph.Axis{Outer: 1, Rows: n.flow.Rows, Inner: part.Width}, n.rowCount)
		return potentials{n.padded(n.reshape(x, -1, part.Width), part.Width), []any{dimBatch, dimTime}}
	}
	x := n.rows(at, graph.Axis{Outer: 1, Rows: n.flow.Pairs, Inner: part.Width}, n.pairCount)
	dims := []any{dimBatch, dimTime, dimTime}
	if n.flow.Needs.Edges {
		dims = []any{dimBatch, dimEdges}
	}
	return potentials{n.paddedPairs(n.reshape(x, -1, part.Width), part.Width), dims}
}

// in returns the result of a step in a shape, in which the number of rows of the Flow stands for the open one.
func (n *network) in(at int, shape ...int) string {
	shape = slices.Clone(shape)
	if rows := n.flow.Steps[at].Rows; !rows.Free() {
		k := rows.Locate(shape)
		if k < 0 {
			n.fail(fmt.Errorf("the rows of a batch do not lie along one axis of %v", shape))
			return ""
		}
		shape[k] = -1
	}
	x := n.value(at)
	if slices.Equal(x.shape, shape) {
		return x.name
	}
	return n.reshape(x.name, shape...)
}

// value returns the result of a step in the shape that it has.
func (n *network) value(at int) array {
	if g, ok := n.flow.Steps[at].Op.(graph.Gather); ok && n.values[at].name == "" {
		n.pattern(at, &n.flow.Steps[at], g.Index.Fixed, g.Index.Rows, g.Cols)
	}
	return n.values[at]
}

// set keeps the result of a step.
func (n *network) set(at int, name string, shape ...int) {
	shape = slices.Clone(shape)
	if rows := n.flow.Steps[at].Rows; !rows.Free() {
		if k := rows.Locate(shape); k >= 0 {
			shape[k] = -1
		} else {
			n.fail(fmt.Errorf("the rows of a batch do not lie along one axis of %v", shape))
		}
	}
	n.values[at] = array{name, shape}
}

// along returns the result of a step as [Outer×Rows×Inner]; of a free one, which has to be the same in every row, only
// one row: [Outer×1×Inner].
func (n *network) along(at int, a graph.Axis) string {
	s := n.flow.Steps[at]
	if !s.Rows.Free() {
		return n.in(at, a.Outer, a.Rows, a.Inner)
	}
	if e, ok := s.Op.(graph.Expand); ok {
		x := s.Args[0]
		switch {
		case n.flow.Steps[x].N == 1:
			return n.in(x, 1, 1, 1)
		case e.Outer == a.Outer && e.Repeat == a.Rows && e.Inner == a.Inner:
			return n.in(x, a.Outer, 1, a.Inner)
		}
	}
	return n.slice(n.in(at, a.Outer, a.Rows, a.Inner), 1, 0, 1)
}

// rows is along for an array that must have all rows; count returns the vector of one number with how many there are.
func (n *network) rows(at int, a graph.Axis, count func() string) string {
	x := n.along(at, a)
	if n.flow.Steps[at].Rows.Free() {
		x = n.of("Expand", x, n.concat(0, n.ints(a.Outer), count(), n.ints(a.Inner)))
	}
	return x
}

// rowCount returns B·T as a vector.
func (n *network) rowCount() string {
	return n.once("row count", func() string { return n.add("ReduceProd", []string{n.size()}, integer("keepdims", 1)) })
}

func (n *network) countOf(kind graph.RowKind) func() string {
	switch kind {
	case graph.RowsOfPairs:
		return n.pairCount
	case graph.RowsOfCharacters:
		return n.characterCount
	}
	return n.rowCount
}

func (n *network) step(at int, s *graph.Step) {
	switch o := s.Op.(type) {
	case nil:
		n.read(at, s)
	case graph.Mask: // all ones; Binary leaves it out
	case graph.Unary:
		n.unary(at, s, o)
	case graph.Binary:
		n.binary(at, s, o)
	case graph.Expand:
		x := n.in(s.Args[0], o.Outer, 1, o.Inner)
		n.set(at, n.of("Expand", x, n.ints(1, o.Repeat, 1)), o.Outer, o.Repeat, o.Inner)
	case graph.Sum:
		n.set(at, n.sum(n.in(s.Args[0], o.Outer, o.Repeat, o.Inner), 1), o.Outer, o.Inner)
	case graph.Maximum:
		n.set(at, n.max(n.in(s.Args[0], o.Outer, o.Repeat, o.Inner), 1, false), o.Outer, o.Inner)
	case graph.Softmax:
		op := "Softmax"
		if o.Log {
			op = "LogSoftmax"
		}
		n.set(at, n.add(op, []string{n.in(s.Args[0], o.Outer, o.Size, o.Inner)}, integer("axis", 1)), o.Outer, o.Size,
			o.Inner)
	case graph.Normalise:
		gain := n.once(fmt.Sprint("ones", o.Cols), func() string { return n.floats("ones", ones(o.Cols), o.Cols) })
		n.set(at, n.add("LayerNormalization", []string{n.in(s.Args[0], o.Rows, o.Cols), gain}, integer("axis", -1),
			realNumber("epsilon", float32(o.Floor))), o.Rows, o.Cols)
	case graph.Permute:
		to := make([]int, len(o.Order))
		for i, from := range o.Order {
			to[i] = o.From[from]
		}
		n.set(at, n.transpose(n.in(s.Args[0], o.From...), o.Order...), to...)
	case graph.Concat:
		n.concatenate(at, s, o)
	case graph.Slice:
		hi := o.Lo + (o.Count-1)*o.Step + 1
		y := n.of("Slice", n.in(s.Args[0], o.Outer, o.Size, o.Inner), n.ints(o.Lo), n.ints(hi), n.ints(1), n.ints(o.Step))
		n.set(at, y, o.Outer, o.Count, o.Inner)
	case graph.MatMul:
		n.matmul(at, s, o)
	case graph.Conv:
		n.conv(at, s, o)
	case graph.MaxPool:
		n.pool(at, s, o)
	case graph.Gather:
		n.gatherRows(at, s, o)
	case graph.SegmentMax:
		n.longest(at, s, o)
	case graph.Bag:
		n.bag(at, s, o)
	case graph.Recurrence:
		n.recurrence(at, s, o)
	case graph.Attention:
		n.attention(at, s, o)
	case graph.Related:
		n.related(at, s, o)
	case graph.Rotation:
		n.rotation(at, s, o)
	case graph.Sinusoids:
		n.sinusoids(at, s, o)
	case graph.Bilinear:
		n.bilinear(at, s, o)
	case graph.Align:
		n.align(at, s, o)
	case graph.Own:
		n.fail(structured.BadInput("op %q is Go code of the network's own, which ONNX cannot hold", o))
	default:
		n.fail(structured.BadInput("op %q has no translation to ONNX", o))
	}
}

// read translates an array that the network reads.
func (n *network) read(at int, s *graph.Step) {
	f, in := n.flow, n.shape
	switch s.Space {
	case graph.SpaceWeights:
		for _, a := range n.layout {
			if a.Offset == s.Offset && a.Len() == s.N {
				name := n.once("weights "+a.Name, func() string { return n.floats(a.Name, a.Of(n.w), a.Shape...) })
				n.values[at] = array{name, a.Shape}
				return
			}
		}
		n.fail(fmt.Errorf("no parameter lies at %d of the weights", s.Offset))
	case graph.SpaceLiterals:
		n.values[at] = array{n.floats("literal", f.Literals[s.Offset:s.Offset+s.N], s.N), []int{s.N}}
	case graph.SpaceVectors:
		v := in.Vectors
		n.values[at] = array{n.once("vectors", func() string { return n.floats("vectors", v.Rows, in.Vocab[0], v.Dim) }),
			[]int{in.Vocab[0], v.Dim}}
	case graph.SpaceFeatures:
		x := ""
		if in.Encoded > 0 { // the rows are an array of their own
			x = n.perPosition(inputFeatures, format.Float, in.Own())
		} else {
			x = n.features(in.Dim)
		}
		n.set(at, n.reshape(x, -1, in.Own()), f.Rows, in.Own())
	case graph.SpaceEncoded:
		n.set(at, n.reshape(n.once("rows", n.encoderRows), -1, in.Encoded), f.Rows, in.Encoded)
	case graph.SpaceEdges:
		n.set(at, n.reshape(n.edgeFeatures(), -1, in.EdgeDim), f.Pairs, in.EdgeDim)
	case graph.SpaceBoundary:
		first := n.of("And", n.of("Equal", n.positions(), n.int(0)), n.alive())
		both := n.concat(2, n.of("Unsqueeze", first, n.ints(2)), n.of("Unsqueeze", n.last(), n.ints(2)))
		n.set(at, n.reshape(n.cast(both, format.Float), -1, 2), f.Rows, 2)
	default:
		n.fail(fmt.Errorf("space %d is not one that a forward pass reads", s.Space))
	}
}

func (n *network) concatenate(at int, s *graph.Step, o graph.Concat) {
	total, parts := 0, make([]string, len(s.Args))
	for i, x := range s.Args {
		total += o.Widths[i]
		if n.flow.Steps[x].Rows.Free() && !s.Rows.Free() {
			a := graph.Axis{Outer: s.Rows.Outer, Rows: s.Rows.Rows, Inner: n.flow.Steps[x].N / (s.Rows.Outer * s.Rows.Rows)}
			if o.Outer != a.Rows || a.Outer != 1 {
				n.fail(structured.BadInput("op %q of parameters and rows has no translation to ONNX", o))
				return
			}
			parts[i] = n.reshape(n.rows(x, a, n.countOf(s.Rows.Of)), -1, o.Widths[i])
			continue
		}
		parts[i] = n.in(x, o.Outer, o.Widths[i])
	}
	n.set(at, n.concat(1, parts...), o.Outer, total)
}

func (n *network) matmul(at int, s *graph.Step, o graph.MatMul) {
	if n.convolved(at, s, o) {
		return
	}
	x, y, left, right := s.Args[0], s.Args[1], []int{o.Batch, o.M, o.K}, []int{o.Batch, o.K, o.N}
	if o.TransA {
		left[1], left[2] = o.K, o.M
	}
	if o.TransB {
		right[1], right[2] = o.N, o.K
	}
	order, out := []int{0, 2, 1}, []int{o.Batch, o.M, o.N}
	if o.Batch == 1 {
		left, right, order, out = left[1:], right[1:], []int{1, 0}, out[1:]
	} else if n.flow.Steps[x].Rows.Free() != n.flow.Steps[y].Rows.Free() && s.Rows.Locate(out) == 0 {
		n.fail(structured.BadInput("op %q of parameters and rows has no translation to ONNX", o))
		return
	}
	a, b := n.in(x, left...), n.in(y, right...)
	if o.TransA {
		a = n.transpose(a, order...)
	}
	if o.TransB {
		b = n.transpose(b, order...)
	}
	n.set(at, n.of("MatMul", a, b), out...)
}

func ones(n int) []float32 {
	xs := make([]float32, n)
	for i := range xs {
		xs[i] = 1
	}
	return xs
}
