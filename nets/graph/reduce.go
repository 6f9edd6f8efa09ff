package graph

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/nets/kernels"
)

// Expand repeats an array of Outer×Inner entries to Outer×Repeat×Inner: result (o, r, i) is entry (o, i).
type Expand struct{ Outer, Repeat, Inner int }

func (e Expand) String() string {
	return fmt.Sprintf("expand %d×(%d)×%d", e.Outer, e.Repeat, e.Inner)
}

func (e Expand) tangent(b *builder, v *value, d []*value) *value { return b.expand(d[0], e, v.shape) }

func (e Expand) Run(*Machine, *Instruction) {} // other ops read it in place, or Assign copies it

func (b *builder) expand(x *value, e Expand, shape []int) *value {
	if e.Repeat == 1 {
		return b.view(x, shape)
	}
	return b.add(e, shape, x)
}

// segments splits the Outer×Repeat×Inner array into runs and calls f for each: entries lo to hi-1 read consecutive
// entries of the small array from at on, or, if scalar, all read its entry at.
func (e Expand) segments(f func(lo, hi, at int, scalar bool)) {
	if e.Inner == 1 {
		for o := range e.Outer {
			f(o*e.Repeat, (o+1)*e.Repeat, o, true)
		}
		return
	}
	lo := 0
	for o := range e.Outer {
		for range e.Repeat {
			f(lo, lo+e.Inner, o*e.Inner, false)
			lo += e.Inner
		}
	}
}

// Sum sums an array of Outer×Repeat×Inner entries over the middle axis: the adjoint of Expand.
type Sum struct{ Outer, Repeat, Inner int }

func (r Sum) String() string { return fmt.Sprintf("sum %d×(%d)×%d", r.Outer, r.Repeat, r.Inner) }

func (Sum) accumulates() {}

func (r Sum) tangent(b *builder, v *value, d []*value) *value { return b.reduce(d[0], r, v.shape) }

func (b *builder) reduce(x *value, r Sum, shape []int) *value {
	if r.Repeat == 1 {
		return b.view(x, shape)
	}
	return b.add(r, shape, x)
}

func (r Sum) Run(m *Machine, in *Instruction) {
	out, x := m.At(in.Out), m.At(in.Args[0].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	for o := range r.Outer {
		if r.Inner == 1 {
			out[o] += kernels.Numbers.Sum(x[o*r.Repeat : (o+1)*r.Repeat])
			continue
		}
		to := out[o*r.Inner : (o+1)*r.Inner]
		for j := range r.Repeat {
			at := (o*r.Repeat + j) * r.Inner
			kernels.Rows.Add(to, to, x[at:at+r.Inner])
		}
	}
}

// Maximum is the largest entry along the middle axis of Outer×Repeat×Inner.
type Maximum struct{ Outer, Repeat, Inner int }

func (r Maximum) String() string { return fmt.Sprintf("max %d×(%d)×%d", r.Outer, r.Repeat, r.Inner) }

// tangent sums the tangents of all entries that attain the maximum, as Gorgonia does.
func (r Maximum) tangent(b *builder, v *value, d []*value) *value {
	x := v.args[0]
	attained := b.binary(binaries["=="], x, b.expand(v, Expand(r), x.shape))
	return b.reduce(b.binary(multiplication, d[0], attained), Sum(r), v.shape)
}

func (r Maximum) Run(m *Machine, in *Instruction) {
	out, x := m.At(in.Out), m.At(in.Args[0].Buffer)
	kernels.Numbers.Fill(out, float32(math.Inf(-1)))
	for o := range r.Outer {
		to := out[o*r.Inner : (o+1)*r.Inner]
		for j := range r.Repeat {
			at := (o*r.Repeat + j) * r.Inner
			for i, v := range x[at : at+r.Inner] {
				to[i] = max(to[i], v)
			}
		}
	}
}
