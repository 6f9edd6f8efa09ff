//go:build goexperiment.simd && amd64

package exact

import (
	"math/bits"
	"simd/archsimd"
	"unsafe"
)

var avx512 = kernels{
	name:      "AVX-512",
	lanes:     half16,
	expError:  3e-10, // |r|⁹/9!, relative to exp(r)
	widen:     widen16,
	maxPlus:   maxPlus16,
	maxDots:   maxDots16,
	argmax:    argmax16,
	exps:      exps16,
	expsFrom:  expsFrom16,
	expSums:   expSums16,
	jointExps: jointExps16,
	sums:      sums16,
	dots:      dots16,
	multiply:  multiply16,
	normalise: normalise16,
	divide:    divide16,
	product:   product16,
	outer:     outer16,
	weigh:     weigh16,
	joint:     joint16,
}

func widen16(to []float64, from []float32, rows, y, stride int, pad float64) {
	whole, beyond := y&^(half16-1), fill16(pad)
	in := first16(y - whole)
	for i := range rows {
		row, x := to[i*stride:][:stride], from[i*y:][:y]
		p, q := unsafe.Pointer(&row[0]), unsafe.Pointer(&x[0])
		for l := 0; l < whole; l += half16 {
			store16(p, l, single16(q, l))
		}
		if whole < y {
			store16(p, whole, part16(x[whole:]).Merge(beyond, in))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// maxPlus16 keeps up to four vectors in registers while it iterates over the rows; of a single vector, it takes two rows at once.
func maxPlus16(to, x, table []float64, y int) {
	p, q := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0])
	stride := len(to)
	step, least := 8*stride, fill16(minusInf)
	l := 0
	for ; l+3*half16 < stride; l += 4 * half16 {
		row := unsafe.Pointer(&table[l])
		m0, m1, m2, m3 := least, least, least, least
		for k := range y {
			v := broadcast16(q, k)
			m0 = m0.Max(v.Add(load16(row, 0)))
			m1 = m1.Max(v.Add(load16(row, half16)))
			m2 = m2.Max(v.Add(load16(row, 2*half16)))
			m3 = m3.Max(v.Add(load16(row, 3*half16)))
			row = unsafe.Add(row, step)
		}
		store16(p, l, load16(p, l).Add(m0))
		store16(p, l+half16, load16(p, l+half16).Add(m1))
		store16(p, l+2*half16, load16(p, l+2*half16).Add(m2))
		store16(p, l+3*half16, load16(p, l+3*half16).Add(m3))
	}
	for ; l < stride; l += half16 {
		row := unsafe.Pointer(&table[l])
		m0, m1 := least, least
		k := 0
		for ; k+1 < y; k += 2 {
			m0 = m0.Max(broadcast16(q, k).Add(load16(row, 0)))
			m1 = m1.Max(broadcast16(q, k+1).Add(load16(row, stride)))
			row = unsafe.Add(row, 2*step)
		}
		if k < y {
			m0 = m0.Max(broadcast16(q, k).Add(load16(row, 0)))
		}
		store16(p, l, load16(p, l).Add(m0.Max(m1)))
	}
	archsimd.ClearAVXUpperBits()
}

// maxDots16 collects results in a block of whole vectors, each over the rest of the one before, since a scalar store would be slow here.
func maxDots16(to, x, table []float64, y int) {
	var block [2 * half16]float64
	b, p, q, row := unsafe.Pointer(&block), unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&table[0])
	stride := len(to)
	for l := range y {
		m := load16(q, 0).Add(load16(row, 0))
		for k := half16; k < stride; k += half16 {
			m = m.Max(load16(q, k).Add(load16(row, k)))
		}
		at := l & (half16 - 1)
		store16(b, at, largest16(m))
		if at == half16-1 || l == y-1 {
			store16(p, l-at, load16(p, l-at).Add(load16(b, 0).Masked(first16(at+1))))
		}
		row = unsafe.Add(row, 8*stride)
	}
	archsimd.ClearAVXUpperBits()
}

func argmax16(x, y []float64) int {
	p, q := unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	m := load16(p, 0).Add(load16(q, 0))
	if len(x) == half16 {
		hit := m.Equal(largest16(m)).ToBits()
		archsimd.ClearAVXUpperBits()
		return bits.TrailingZeros8(hit)
	}
	for l := half16; l < len(x); l += half16 {
		m = m.Max(load16(p, l).Add(load16(q, l)))
	}
	m = largest16(m)
	for l := 0; l < len(x); l += half16 {
		if hit := load16(p, l).Add(load16(q, l)).Equal(m).ToBits(); hit != 0 {
			archsimd.ClearAVXUpperBits()
			return l + bits.TrailingZeros8(hit)
		}
	}
	return 0
}

// exps16 computes exponentials to about 9 digits.
func exps16(to []float64, from []float32, rows, y, stride int, scale float64) (most, least float64) {
	whole, minus, times := y&^(half16-1), fill16(minusInf), fill16(scale)
	in := first16(y - whole)
	total, lowest := zero16, zero16
	for i := range rows {
		row, x := to[i*stride:][:stride], from[i*y:][:y]
		p, q := unsafe.Pointer(&row[0]), unsafe.Pointer(&x[0])
		m := minus
		for l := 0; l < whole; l += half16 {
			m = m.Max(single16(q, l))
		}
		end := minus
		if whole < y {
			end = part16(x[whole:]).Merge(minus, in)
			m = m.Max(end)
		}
		m = largest16(m)
		total = total.Add(m)
		for l := 0; l < whole; l += half16 {
			e := single16(q, l).Sub(m).Mul(times)
			lowest = lowest.Min(e.Masked(e.Greater(minus)))
			store16(p, l, exp16(e))
		}
		if whole < y {
			e := end.Sub(m).Mul(times)
			lowest = lowest.Min(e.Masked(e.Greater(minus)))
			store16(p, whole, exp16(e))
		}
	}
	lowest = largest16(zero16.Sub(lowest))
	most, least = head16(total), head16(lowest)
	archsimd.ClearAVXUpperBits()
	return most, -least
}

func expsFrom16(to []float64, from []float32, rows, y, stride int, most, scale float64) (least float64) {
	whole, minus, times, m := y&^(half16-1), fill16(minusInf), fill16(scale), fill16(most)
	in := first16(y - whole)
	lowest := zero16
	for i := range rows {
		row, x := to[i*stride:][:stride], from[i*y:][:y]
		p, q := unsafe.Pointer(&row[0]), unsafe.Pointer(&x[0])
		for l := 0; l < whole; l += half16 {
			e := single16(q, l).Sub(m).Mul(times)
			lowest = lowest.Min(e.Masked(e.Greater(minus)))
			store16(p, l, exp16(e))
		}
		if whole < y {
			e := part16(x[whole:]).Merge(minus, in).Sub(m).Mul(times)
			lowest = lowest.Min(e.Masked(e.Greater(minus)))
			store16(p, whole, exp16(e))
		}
	}
	least = -head16(largest16(zero16.Sub(lowest)))
	archsimd.ClearAVXUpperBits()
	return least
}

// exp16 returns exp(x) to about 9 digits for x ≤ 0, and 0 if the result is subnormal: 2^n exp(r) with n = round(x log₂e), |r| ≤ ln2/2, and
// the Taylor polynomial of degree 8.
func exp16(x double16) double16 {
	normal := x.Greater(fill16(-708))
	shifted := x.MulAdd(fill16(log2E), fill16(rounder))
	r := shifted.Sub(fill16(rounder)).MulAdd(fill16(-ln2), x)
	p := r.MulAdd(fill16(1.0/40320), fill16(1.0/5040))
	p = p.MulAdd(r, fill16(1.0/720)).MulAdd(r, fill16(1.0/120)).MulAdd(r, fill16(1.0/24))
	p = p.MulAdd(r, fill16(1.0/6)).MulAdd(r, fill16(0.5)).MulAdd(r, fill16(1)).MulAdd(r, fill16(1))
	return power16(p, shifted).Masked(normal)
}

func expSums16(to, x, table, m []float64, y int) {
	p, q, n := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&m[0])
	stride := len(to)
	for l := 0; l < stride; l += half16 {
		row, shift, s := unsafe.Pointer(&table[l]), load16(n, l), zero16
		for k := range y {
			s = s.Add(exp16(broadcast16(q, k).Add(load16(row, 0)).Sub(shift)))
			row = unsafe.Add(row, 8*stride)
		}
		store16(p, l, s)
	}
	archsimd.ClearAVXUpperBits()
}

func jointExps16(g, rows, cols, a, b, table []float64, y int) {
	clear(cols)
	p, q, c, r := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&cols[0]), unsafe.Pointer(&rows[0])
	stride := len(b)
	for k := range y {
		v, s := broadcast16(p, k), zero16
		row, t := unsafe.Pointer(&g[k*stride]), unsafe.Pointer(&table[k*stride])
		for l := 0; l < stride; l += half16 {
			e := exp16(v.Add(load16(t, l)).Add(load16(q, l)))
			store16(row, l, load16(row, l).Add(e))
			store16(c, l, load16(c, l).Add(e))
			s = s.Add(e)
		}
		store16(r, k, total16(s)) // a whole vector, since a scalar would be slow here: the next rows overwrite the rest
	}
	archsimd.ClearAVXUpperBits()
	clear(rows[y:])
}

func sums16(to, x, table []float64, y int) {
	p, q := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0])
	stride := len(to)
	step := 8 * stride
	l := 0
	for ; l+3*half16 < stride; l += 4 * half16 {
		row := unsafe.Pointer(&table[l])
		s0, s1, s2, s3 := zero16, zero16, zero16, zero16
		for k := range y {
			v := broadcast16(q, k)
			s0 = v.MulAdd(load16(row, 0), s0)
			s1 = v.MulAdd(load16(row, half16), s1)
			s2 = v.MulAdd(load16(row, 2*half16), s2)
			s3 = v.MulAdd(load16(row, 3*half16), s3)
			row = unsafe.Add(row, step)
		}
		store16(p, l, s0)
		store16(p, l+half16, s1)
		store16(p, l+2*half16, s2)
		store16(p, l+3*half16, s3)
	}
	for ; l < stride; l += half16 {
		row := unsafe.Pointer(&table[l])
		s0, s1 := zero16, zero16
		k := 0
		for ; k+1 < y; k += 2 {
			s0 = broadcast16(q, k).MulAdd(load16(row, 0), s0)
			s1 = broadcast16(q, k+1).MulAdd(load16(row, stride), s1)
			row = unsafe.Add(row, 2*step)
		}
		if k < y {
			s0 = broadcast16(q, k).MulAdd(load16(row, 0), s0)
		}
		store16(p, l, s0.Add(s1))
	}
	archsimd.ClearAVXUpperBits()
}

// dots16 collects results as maxDots16 does.
func dots16(to, x, table []float64, y int) {
	var block [2 * half16]float64
	b, p, q, row := unsafe.Pointer(&block), unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&table[0])
	stride := len(to)
	for l := range y {
		s := zero16
		for k := 0; k < stride; k += half16 {
			s = load16(q, k).MulAdd(load16(row, k), s)
		}
		at := l & (half16 - 1)
		store16(b, at, total16(s))
		if at == half16-1 || l == y-1 {
			store16(p, l-at, load16(b, 0).Masked(first16(at+1)))
		}
		row = unsafe.Add(row, 8*stride)
	}
	archsimd.ClearAVXUpperBits()
}

func multiply16(to, x, floor []float64) {
	p, q, f := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&floor[0])
	low := load16(f, 0)
	for l := 0; l < len(to); l += half16 {
		a := load16(q, l)
		b := load16(p, l).Mul(a)
		store16(p, l, b)
		low = low.Min(a.Merge(low, a.Greater(zero16)))
		low = low.Min(b.Merge(low, b.Greater(zero16)))
	}
	store16(f, 0, low)
	archsimd.ClearAVXUpperBits()
}

func normalise16(x []float64) float64 {
	p := unsafe.Pointer(&x[0])
	s := load16(p, 0)
	for l := half16; l < len(x); l += half16 {
		s = s.Add(load16(p, l))
	}
	s = total16(s)
	scale := fill16(1).Div(s)
	for l := 0; l < len(x); l += half16 {
		store16(p, l, load16(p, l).Mul(scale))
	}
	sum := head16(s)
	archsimd.ClearAVXUpperBits()
	return sum
}

func divide16(to, x, y []float64) {
	r, p, q := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for l := 0; l < len(to); l += half16 {
		v := load16(q, l)
		store16(r, l, load16(p, l).Div(v).Masked(v.Greater(zero16)))
	}
	archsimd.ClearAVXUpperBits()
}

func product16(to []float64, p []float32, x, y []float64) {
	r, a, b, out := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), unsafe.Pointer(&p[0])
	l := 0
	for ; l+half16 <= len(p); l += half16 {
		v := load16(a, l).Mul(load16(b, l))
		store16(r, l, v)
		narrow16(out, l, v)
	}
	if l < len(p) {
		v := load16(a, l).Mul(load16(b, l))
		store16(r, l, v)
		narrowPart16(p[l:], v)
	}
	archsimd.ClearAVXUpperBits()
}

// outer16 keeps two vectors of each b in registers while it iterates over the rows of g.
func outer16(g, a, b []float64, y, stride int) {
	l := 0
	for ; l+half16 < stride; l += 2 * half16 {
		q, p, row := unsafe.Pointer(&b[l]), unsafe.Pointer(&a[0]), unsafe.Pointer(&g[l])
		b0, b1, b2, b3 := load16(q, 0), load16(q, stride), load16(q, 2*stride), load16(q, 3*stride)
		q = unsafe.Add(q, 8*half16)
		c0, c1, c2, c3 := load16(q, 0), load16(q, stride), load16(q, 2*stride), load16(q, 3*stride)
		for range y {
			v := broadcast16(p, 0)
			s, t := v.MulAdd(b0, load16(row, 0)), v.MulAdd(c0, load16(row, half16))
			v = broadcast16(p, stride)
			s, t = v.MulAdd(b1, s), v.MulAdd(c1, t)
			v = broadcast16(p, 2*stride)
			s, t = v.MulAdd(b2, s), v.MulAdd(c2, t)
			v = broadcast16(p, 3*stride)
			s, t = v.MulAdd(b3, s), v.MulAdd(c3, t)
			store16(row, 0, s)
			store16(row, half16, t)
			p, row = unsafe.Add(p, 8), unsafe.Add(row, 8*stride)
		}
	}
	for ; l < stride; l += half16 {
		q, p, row := unsafe.Pointer(&b[l]), unsafe.Pointer(&a[0]), unsafe.Pointer(&g[l])
		b0, b1, b2, b3 := load16(q, 0), load16(q, stride), load16(q, 2*stride), load16(q, 3*stride)
		for range y {
			s := broadcast16(p, 0).MulAdd(b0, load16(row, 0))
			t := broadcast16(p, stride).Mul(b1)
			s = broadcast16(p, 2*stride).MulAdd(b2, s)
			t = broadcast16(p, 3*stride).MulAdd(b3, t)
			store16(row, 0, s.Add(t))
			p, row = unsafe.Add(p, 8), unsafe.Add(row, 8*stride)
		}
	}
	archsimd.ClearAVXUpperBits()
}

func weigh16(to []float32, g, table []float64, y, stride int) {
	for k := range y {
		row := to[k*y:][:y]
		a, b, out := unsafe.Pointer(&g[k*stride]), unsafe.Pointer(&table[k*stride]), unsafe.Pointer(&row[0])
		l := 0
		for ; l+half16 <= y; l += half16 {
			narrow16(out, l, load16(a, l).Mul(load16(b, l)))
		}
		if l < y {
			narrowPart16(row[l:], load16(a, l).Mul(load16(b, l)))
		}
	}
	archsimd.ClearAVXUpperBits()
}

func joint16(to []float32, a, b, table []float64, y int) {
	stride := len(b)
	p, q := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0])
	for k := range y {
		row := to[k*y:][:y]
		t, out, v := unsafe.Pointer(&table[k*stride]), unsafe.Pointer(&row[0]), broadcast16(p, k)
		l := 0
		for ; l+half16 <= y; l += half16 {
			narrow16(out, l, v.Mul(load16(q, l)).Mul(load16(t, l)))
		}
		if l < y {
			narrowPart16(row[l:], v.Mul(load16(q, l)).Mul(load16(t, l)))
		}
	}
	archsimd.ClearAVXUpperBits()
}
