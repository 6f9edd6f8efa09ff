package graph

import (
	"fmt"
	"hash"
	"hash/fnv"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fusedOp is a Gorgonia op of this package, for what Gorgonia lacks or needs many nodes for. A program runs what it
// lowers to; Gorgonia's own machines run eval, which is simple and slow.
type fusedOp struct {
	name    string
	in      []tensor.Shape
	out     tensor.Shape
	dtype   tensor.Dtype
	eval    func(args [][]float64, out []float64)
	lowered func(b *builder, args []*value) *value
	// pull returns the cotangents of the inputs, nil for an input without one.
	pull func(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error)
}

// apply adds the op to the graph of its inputs.
func (o *fusedOp) apply(inputs ...*gorgonia.Node) (*gorgonia.Node, error) {
	for _, n := range inputs {
		o.in = append(o.in, n.Shape().Clone())
		o.dtype = n.Dtype()
	}
	return gorgonia.ApplyOp(o, inputs...)
}

// Arity returns the number of inputs.
func (o *fusedOp) Arity() int { return len(o.in) }

// Type returns the Hindley-Milner type: tensors of one element type.
func (o *fusedOp) Type() hm.Type {
	a := hm.TypeVariable('a')
	var ts []hm.Type
	for _, s := range append(append([]tensor.Shape(nil), o.in...), o.out) {
		ts = append(ts, gorgonia.TensorType{Dims: len(s), Of: a})
	}
	return hm.NewFnType(ts...)
}

// InferShape returns the shape of the result.
func (o *fusedOp) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) { return o.out.Clone(), nil }

// Do computes the result for Gorgonia's machines.
func (o *fusedOp) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	args := make([][]float64, len(inputs))
	for i, v := range inputs {
		switch x := v.Data().(type) {
		case []float64:
			args[i] = x
		case []float32:
			args[i] = make([]float64, len(x))
			for j, e := range x {
				args[i][j] = float64(e)
			}
		default:
			return nil, fmt.Errorf("nets: %s of %T", o.name, x)
		}
	}
	out := make([]float64, o.out.TotalSize())
	o.eval(args, out)
	if o.dtype == tensor.Float64 {
		return tensor.New(tensor.WithShape(o.out...), tensor.WithBacking(out)), nil
	}
	small := make([]float32, len(out))
	for i, e := range out {
		small[i] = float32(e)
	}
	return tensor.New(tensor.WithShape(o.out...), tensor.WithBacking(small)), nil
}

// ReturnsPtr says that the result is not a copy of an input.
func (o *fusedOp) ReturnsPtr() bool { return false }

// CallsExtern says that no foreign code is called.
func (o *fusedOp) CallsExtern() bool { return false }

// OverwritesInput says that no input is overwritten.
func (o *fusedOp) OverwritesInput() int { return -1 }

// WriteHash identifies the op: no two are merged, since an op may hold a function.
func (o *fusedOp) WriteHash(h hash.Hash) { fmt.Fprintf(h, "%s %p", o.name, o) }

// Hashcode identifies the op.
func (o *fusedOp) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

func (o *fusedOp) String() string { return o.name }

// DiffWRT says for which inputs the op has a derivative.
func (o *fusedOp) DiffWRT(inputs int) []bool {
	wrt := make([]bool, inputs)
	for i := range wrt {
		wrt[i] = o.pull != nil
	}
	return wrt
}

// SymDiff adds the pullback to the graph.
func (o *fusedOp) SymDiff(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	return o.pull(inputs, output, grad)
}

func (o *fusedOp) lower(b *builder, _ *gorgonia.Node, args []*value) (*value, error) {
	return o.lowered(b, args), nil
}
