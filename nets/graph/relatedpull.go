package graph

import (
	"fmt"
	"math"
)

// The derivatives of Related.

// RelatedPush is the push-forward of Related. Bit i of Moved says that argument i has a tangent; the tangents follow
// the arguments.
type RelatedPush struct {
	Related
	Moved uint
}

func (o RelatedPush) String() string { return o.Related.String() + " tangent" }

func (o RelatedPush) tangent(*builder, *value, []*value) *value { return nil }

func (o RelatedPush) Run(m *Machine, in *Instruction) {
	count := len(o.shapes(0))
	args, moved := make([][]float32, count), make([][]float32, count)
	next := count
	for i := range args {
		args[i] = m.At(in.Args[i].Buffer)
		if o.Moved&(1<<i) != 0 {
			moved[i] = m.At(in.Args[next].Buffer)
			next++
		}
	}
	out := m.At(in.Out)
	clear(out)
	relatedRows(o.Related, m.offsets, args, func(r *relatedRow[float32]) { r.push(moved, out) })
}

// RelatedPull is the pullback of Related to argument Of. Its arguments are those of Related, then the cotangent of the
// result.
type RelatedPull struct {
	Related
	Of int
}

func (o RelatedPull) String() string { return fmt.Sprintf("%s' of %d", o.Related, o.Of) }

func (o RelatedPull) tangent(*builder, *value, []*value) *value { return nil }

func (o RelatedPull) Run(m *Machine, in *Instruction) {
	args := make([][]float32, len(in.Args))
	for i, a := range in.Args {
		args[i] = m.At(a.Buffer)
	}
	out := m.At(in.Out)
	clear(out)
	relatedPull(o, m.offsets, args, out)
}

func relatedPull[T float32 | float64](o RelatedPull, offsets []int, args [][]T, out []T) {
	d := make([][]T, len(args)-1)
	d[o.Of] = out
	relatedRows(o.Related, offsets, args[:len(args)-1], func(r *relatedRow[T]) { r.pull(args[len(args)-1], d) })
}

// relatedRow is row i of one head of Related, computed entry by entry: what derivatives and Gorgonia's machines take.
// p[j−lo] is the probability of row j of the example.
type relatedRow[T float32 | float64] struct {
	o           Related
	args        [][]T
	which       [3]int // the argument that each of B, K and Q is; 0: none
	first, h    int    // of the example's rows; head
	i, lo, hi   int
	p, s        []T
	buckets     []int32
	zero, wide  int // wide is the width of a row of x
	q, k, v, at int // where the query, key, value and result of head h are in a row
}

// relatedRows visits every row and head of a batch.
func relatedRows[T float32 | float64](o Related, offsets []int, args [][]T, visit func(r *relatedRow[T])) {
	w := o.width()
	r := relatedRow[T]{o: o, args: args, wide: 3 * w}
	next := 1
	for k, there := range o.tables() {
		if there {
			r.which[k] = next
			next++
		}
	}
	for b := range len(offsets) - 1 {
		n := offsets[b+1] - offsets[b]
		if n == 0 {
			continue
		}
		r.first, r.buckets, r.zero = offsets[b], o.Buckets.UpTo(n), n-1
		for r.h = range o.Heads {
			r.q = r.h * o.Size
			r.k, r.v, r.at = r.q+w, r.q+2*w, r.q
			for r.i = range n {
				r.lo, r.hi = o.within(r.i, n)
				r.scores()
				visit(&r)
			}
		}
	}
}

// of returns Size numbers of row j of x, from column c.
func (r *relatedRow[T]) of(x []T, j, c int) []T { return x[(r.first+j)*r.wide+c:][:r.o.Size] }

// bucket is the bucket of the distance i − j.
func (r *relatedRow[T]) bucket(j int) int { return int(r.buckets[r.zero+r.i-j]) }

// table returns the row of table k for the head and a bucket.
func (r *relatedRow[T]) table(all [][]T, k, bucket int) []T {
	t := all[r.which[k]]
	return t[bucket*r.o.width()+r.h*r.o.Size:][:r.o.Size]
}

func dot[T float32 | float64](x, y []T) T {
	var sum T
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func axpy[T float32 | float64](a T, x, y []T) {
	for i, v := range x {
		y[i] += a * v
	}
}

func (r *relatedRow[T]) scores() {
	x, scale := r.args[0], T(r.o.Scale)
	q := r.of(x, r.i, r.q)
	r.p, r.s = r.p[:0], r.s[:0]
	top := T(math.Inf(-1))
	for j := r.lo; j < r.hi; j++ {
		k := r.of(x, j, r.k)
		s := dot(q, k)
		if r.which[1] > 0 {
			s += dot(q, r.table(r.args, 1, r.bucket(j)))
		}
		if r.which[2] > 0 {
			s += dot(k, r.table(r.args, 2, r.bucket(j)))
		}
		s *= scale
		if r.which[0] > 0 {
			s += r.args[r.which[0]][r.bucket(j)*r.o.Heads+r.h]
		}
		r.p, r.s = append(r.p, s), append(r.s, 0)
		top = max(top, s)
	}
	var sum T
	for c, s := range r.p {
		r.p[c] = T(math.Exp(float64(s - top)))
		sum += r.p[c]
	}
	for c := range r.p {
		r.p[c] /= sum
	}
}

// forward adds the row of the result.
func (r *relatedRow[T]) forward(out []T) {
	to := out[(r.first+r.i)*r.o.width()+r.at:][:r.o.Size]
	for c, p := range r.p {
		axpy(p, r.of(r.args[0], r.lo+c, r.v), to)
	}
}

// push adds the row of the push-forward along tangents of the arguments, nil for none.
func (r *relatedRow[T]) push(moved [][]T, out []T) {
	x, scale, mean := r.args[0], T(r.o.Scale), T(0)
	q := r.of(x, r.i, r.q)
	for c, p := range r.p {
		j := r.lo + c
		k, b, s := r.of(x, j, r.k), r.bucket(j), T(0)
		if ẋ := moved[0]; ẋ != nil {
			dq, dk := r.of(ẋ, r.i, r.q), r.of(ẋ, j, r.k)
			s += dot(dq, k) + dot(q, dk)
			if r.which[1] > 0 {
				s += dot(dq, r.table(r.args, 1, b))
			}
			if r.which[2] > 0 {
				s += dot(dk, r.table(r.args, 2, b))
			}
		}
		if r.which[1] > 0 && moved[r.which[1]] != nil {
			s += dot(q, r.table(moved, 1, b))
		}
		if r.which[2] > 0 && moved[r.which[2]] != nil {
			s += dot(k, r.table(moved, 2, b))
		}
		s *= scale
		if r.which[0] > 0 && moved[r.which[0]] != nil {
			s += moved[r.which[0]][b*r.o.Heads+r.h]
		}
		r.s[c] = s
		mean += p * s
	}
	to := out[(r.first+r.i)*r.o.width()+r.at:][:r.o.Size]
	for c, p := range r.p {
		axpy(p*(r.s[c]-mean), r.of(x, r.lo+c, r.v), to)
		if moved[0] != nil {
			axpy(p, r.of(moved[0], r.lo+c, r.v), to)
		}
	}
}

// pull adds the row's part of the cotangents d of the arguments, nil for those that are not wanted; g is the cotangent
// of the result.
func (r *relatedRow[T]) pull(g []T, d [][]T) {
	x, scale, mean := r.args[0], T(r.o.Scale), T(0)
	gi := g[(r.first+r.i)*r.o.width()+r.at:][:r.o.Size]
	for c, p := range r.p {
		r.s[c] = dot(gi, r.of(x, r.lo+c, r.v))
		mean += p * r.s[c]
	}
	q := r.of(x, r.i, r.q)
	for c, p := range r.p {
		j := r.lo + c
		k, b := r.of(x, j, r.k), r.bucket(j)
		ds := p * (r.s[c] - mean)
		if r.which[0] > 0 && d[r.which[0]] != nil {
			d[r.which[0]][b*r.o.Heads+r.h] += ds
		}
		ds *= scale
		if dx := d[0]; dx != nil {
			dq, dk := r.of(dx, r.i, r.q), r.of(dx, j, r.k)
			axpy(ds, k, dq)
			axpy(ds, q, dk)
			axpy(p, gi, r.of(dx, j, r.v))
			if r.which[1] > 0 {
				axpy(ds, r.table(r.args, 1, b), dq)
			}
			if r.which[2] > 0 {
				axpy(ds, r.table(r.args, 2, b), dk)
			}
		}
		if r.which[1] > 0 && d[r.which[1]] != nil {
			axpy(ds, q, r.table(d, 1, b))
		}
		if r.which[2] > 0 && d[r.which[2]] != nil {
			axpy(ds, k, r.table(d, 2, b))
		}
	}
}
