package nets

import (
	"fmt"
	"math"
)

// expand spreads an array of outer×inner entries over outer×repeat×inner: entry (o, i) becomes every (o, r, i).
type expand struct{ outer, repeat, inner int }

func (e expand) String() string {
	return fmt.Sprintf("expand %d×(%d)×%d", e.outer, e.repeat, e.inner)
}

func (e expand) tangent(b *builder, v *value, d []*value) *value { return b.expand(d[0], e, v.shape) }

func (e expand) run(*machine, *instruction) {} // read in place, or copied by assign

func (b *builder) expand(x *value, e expand, shape []int) *value {
	if e.repeat == 1 {
		return b.view(x, shape)
	}
	return b.add(e, shape, x)
}

// segments calls f for every run of the outer×repeat×inner array, entries lo to hi-1, that reads either consecutive
// entries from at of the small one, or only its entry at.
func (e expand) segments(f func(lo, hi, at int, scalar bool)) {
	if e.inner == 1 {
		for o := range e.outer {
			f(o*e.repeat, (o+1)*e.repeat, o, true)
		}
		return
	}
	lo := 0
	for o := range e.outer {
		for range e.repeat {
			f(lo, lo+e.inner, o*e.inner, false)
			lo += e.inner
		}
	}
}

// reduce sums an array of outer×repeat×inner entries over the middle axis: the adjoint of expand.
type reduce struct{ outer, repeat, inner int }

func (r reduce) String() string { return fmt.Sprintf("sum %d×(%d)×%d", r.outer, r.repeat, r.inner) }

func (reduce) accumulates() {}

func (r reduce) tangent(b *builder, v *value, d []*value) *value { return b.reduce(d[0], r, v.shape) }

func (b *builder) reduce(x *value, r reduce, shape []int) *value {
	if r.repeat == 1 {
		return b.view(x, shape)
	}
	return b.add(r, shape, x)
}

func (r reduce) run(m *machine, in *instruction) {
	out, x := m.at(in.out), m.at(in.args[0].buffer)
	if !in.accumulate {
		clear(out)
	}
	for o := range r.outer {
		if r.inner == 1 {
			s := float32(0)
			for _, v := range x[o*r.repeat : (o+1)*r.repeat] {
				s += v
			}
			out[o] += s
			continue
		}
		to := out[o*r.inner : (o+1)*r.inner]
		for j := range r.repeat {
			at := (o*r.repeat + j) * r.inner
			fast.add(to, to, x[at:at+r.inner])
		}
	}
}

// maximum is the largest entry along the middle axis of outer×repeat×inner.
type maximum struct{ outer, repeat, inner int }

func (r maximum) String() string { return fmt.Sprintf("max %d×(%d)×%d", r.outer, r.repeat, r.inner) }

// tangent is the sum of the tangents of the entries that attain the maximum, as Gorgonia differentiates it.
func (r maximum) tangent(b *builder, v *value, d []*value) *value {
	x := v.args[0]
	attained := b.binary(binaries["=="], x, b.expand(v, expand(r), x.shape))
	return b.reduce(b.binary(multiplication, d[0], attained), reduce(r), v.shape)
}

func (r maximum) run(m *machine, in *instruction) {
	out, x := m.at(in.out), m.at(in.args[0].buffer)
	fill(out, float32(math.Inf(-1)))
	for o := range r.outer {
		to := out[o*r.inner : (o+1)*r.inner]
		for j := range r.repeat {
			at := (o*r.repeat + j) * r.inner
			for i, v := range x[at : at+r.inner] {
				to[i] = max(to[i], v)
			}
		}
	}
}
