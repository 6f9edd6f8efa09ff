package graph

import (
	"fmt"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// lowerer is a Gorgonia op of this package, which builds its own value.
type lowerer interface {
	lower(b *builder, n *gorgonia.Node, args []*value) (*value, error)
}

// lowering turns Gorgonia nodes into values, each node once.
type lowering struct {
	*builder
	graph *Graph
	done  map[*gorgonia.Node]*value
}

func newLowering(g *Graph) *lowering {
	return &lowering{builder: &builder{}, graph: g, done: map[*gorgonia.Node]*value{}}
}

func (l *lowering) value(n *gorgonia.Node) (*value, error) {
	if v, ok := l.done[n]; ok {
		return v, nil
	}
	var args []*value
	for it := l.graph.From(n.ID()); it.Next(); {
		a, err := l.value(it.Node().(*gorgonia.Node))
		if err != nil {
			return nil, err
		}
		args = append(args, a)
	}
	v, err := l.apply(n, args)
	if err != nil {
		return nil, err
	}
	l.done[n] = v
	return v, nil
}

func (l *lowering) apply(n *gorgonia.Node, args []*value) (*value, error) {
	shape := append([]int(nil), n.Shape()...)
	o := n.Op()
	if o == nil {
		if m, ok := l.graph.masks[n]; ok {
			return l.add(m, shape), nil
		}
		if f, ok := l.graph.leaves[n]; ok {
			return l.leaf(f.space, f.offset, shape), nil
		}
		return l.constant(n, shape)
	}
	if own, ok := o.(lowerer); ok {
		return own.lower(l.builder, n, args)
	}
	op := fieldsOf(o)
	switch op.kind {
	case "gorgonia.constantScalar", "gorgonia.constantTensor":
		return l.constant(n, shape)
	case "gorgonia.sizeOp":
		size := 1
		if axis := op.int("axis"); axis < len(args[0].shape) {
			size = args[0].shape[axis]
		}
		return l.scalar(float32(size)), nil // a mean divides by it; repeat reads its own shape instead
	case "gorgonia.reshapeOp":
		return l.view(args[0], shape), nil
	case "gorgonia.repeatOp":
		return l.repeat(args[0], op.int("along"), shape), nil
	case "gorgonia.elemUnaryOp":
		if f, ok := unaries[op.name]; ok {
			return l.add(Unary{f}, shape, args[0]), nil
		}
	case "gorgonia.elemBinOp":
		name, _, _ := strings.Cut(op.name, " ")
		if f, ok := binaries[name]; ok && (f.arithmetic || op.bool("retSame")) {
			return l.binary(f, args[0], args[1]), nil
		}
	case "gorgonia.linAlgBinOp":
		return l.product(op, args[0], args[1], shape)
	case "gorgonia.sumOp":
		return l.reduceAxes(op, args[0], shape, func(x *value, r Sum, s []int) *value { return l.reduce(x, r, s) }), nil
	case "gorgonia.maxOp":
		return l.reduceAxes(op, args[0], shape, func(x *value, r Sum, s []int) *value { return l.add(Maximum(r), s, x) }), nil
	case "gorgonia.transposeOp":
		return l.add(Permute{args[0].shape, op.ints("pattern")}, shape, args[0]), nil
	case "gorgonia.concatOp":
		return l.concat(op.int("axis"), args, shape), nil
	case "gorgonia.sliceOp":
		s := sliceOf(o, args[0].shape)
		if s.Count == s.Size {
			return l.view(args[0], shape), nil
		}
		return l.add(s, shape, args[0]), nil
	case "gorgonia.sliceIncrOp":
		s := sliceOf(o, args[0].shape)
		return l.add(Unslice{s}, shape, args[1]), nil
	case "gorgonia.softmaxOp":
		return l.add(softmaxOf(op, shape), shape, args[0]), nil
	case "gorgonia.softmaxDiffOp":
		return l.add(SoftmaxPull{softmaxOf(op, shape)}, shape, args[1], args[2]), nil
	}
	return nil, fmt.Errorf("a network's program cannot run op %q (%T)", op.name, o)
}

func (l *lowering) constant(n *gorgonia.Node, shape []int) (*value, error) {
	var data any
	if v := n.Value(); v != nil {
		data = v.Data()
	}
	switch x := data.(type) {
	case float32:
		return l.scalar(x), nil
	case []float32:
		return l.literal(x, shape), nil
	case float64:
		return l.scalar(float32(x)), nil
	}
	return nil, fmt.Errorf("node %q has no value that a program can use (%T): inputs come from Param, "+
		"Features, Embed and Boundary",
		n.Name(), data)
}

// repeat is Gorgonia's Repeat: the copies of each entry along the axis are consecutive.
func (l *lowering) repeat(x *value, along int, shape []int) *value {
	from := append([]int(nil), x.shape...)
	for len(from) <= along {
		from = append(from, 1)
	}
	return l.expand(x, Expand{product(from[:along+1]), shape[along] / from[along], product(from[along+1:])}, shape)
}

// product lowers the products of vectors and matrices, which their axes tell apart.
func (l *lowering) product(op fields, x, y *value, shape []int) (*value, error) {
	o := MatMul{Batch: 1, TransA: op.bool("transA"), TransB: op.bool("transB")}
	rows := func(s []int, trans bool) (int, int) {
		r, c := s[len(s)-2], s[len(s)-1]
		if trans {
			return c, r
		}
		return r, c
	}
	switch a, b := len(x.shape), len(y.shape); {
	case a >= 2 && a == b: // of each pair of matrices
		o.Batch = product(x.shape[:a-2])
		o.M, o.K = rows(x.shape, o.TransA)
		_, o.N = rows(y.shape, o.TransB)
	case a == 2 && b == 1:
		o.M, o.K = rows(x.shape, o.TransA)
		o.N = 1
	case a == 1 && b == 1 && len(shape) == 2: // the outer product
		o.M, o.N, o.K = x.size(), y.size(), 1
	case a == 1 && b == 1:
		o.M, o.N, o.K = 1, 1, x.size()
	}
	if o.Batch*o.M*o.N != product(shape) || o.Batch*o.M*o.K != x.size() || o.Batch*o.K*o.N != y.size() {
		return nil, fmt.Errorf("a network's program cannot run op %q of %v and %v", op.name, x.shape, y.shape)
	}
	return l.matmul(o, shape, x, y), nil
}

// reduceAxes reduces one axis at a time, the last first.
func (l *lowering) reduceAxes(op fields, x *value, shape []int, one func(*value, Sum, []int) *value) *value {
	left := append([]int(nil), x.shape...)
	along := map[int]bool{}
	for _, a := range op.ints("along") {
		along[a] = true
	}
	for a := len(left) - 1; a >= 0; a-- {
		if along[a] {
			r := Sum{product(left[:a]), left[a], product(left[a+1:])}
			left[a] = 1
			x = one(x, r, append([]int(nil), left...))
		}
	}
	return l.view(x, shape)
}

func (l *lowering) concat(axis int, args []*value, shape []int) *value {
	if axis < 0 {
		axis += len(shape)
	}
	c := Concat{Outer: product(shape[:axis])}
	for _, a := range args {
		c.Widths = append(c.Widths, a.size()/c.Outer)
	}
	return l.add(c, shape, args...)
}

func sliceOf(o gorgonia.Op, from []int) Slice {
	along := fieldsOf(o).int("along")
	s := Slice{product(from[:along]), from[along], product(from[along+1:]), 0, 1, from[along]}
	if r := o.(interface{ IsSlice() tensor.Slice }).IsSlice(); r != nil && r.End() > r.Start() {
		s.Lo, s.Step = r.Start(), max(1, r.Step())
		s.Count = (r.End() - r.Start() + s.Step - 1) / s.Step
	}
	return s
}

func softmaxOf(op fields, shape []int) Softmax {
	axis := op.int("axis")
	if axis < 0 {
		axis = len(shape) - 1
	}
	return Softmax{product(shape[:axis]), shape[axis], product(shape[axis+1:]), op.bool("isLog")}
}
