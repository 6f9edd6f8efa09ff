//go:build goexperiment.simd && amd64

package exact

import (
	"math/bits"
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

var avx512 = &kernels{
	name:      "AVX-512",
	lanes:     simd.Doubles16,
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
	whole, beyond := y&^(simd.Doubles16-1), simd.FillDouble16(pad)
	in := simd.FirstDouble16(y - whole)
	for i := range rows {
		row, x := to[i*stride:][:stride], from[i*y:][:y]
		p, q := unsafe.Pointer(&row[0]), unsafe.Pointer(&x[0])
		for l := 0; l < whole; l += simd.Doubles16 {
			simd.StoreDouble16(p, l, simd.LoadWidened16(q, l))
		}
		if whole < y {
			simd.StoreDouble16(p, whole, simd.WidenPart16(x[whole:]).Merge(beyond, in))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// maxPlus16 keeps up to four vectors in registers while it iterates over the rows; of a single vector, it takes two
// rows at once.
func maxPlus16(to, x, table []float64, y int) {
	p, q := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0])
	stride := len(to)
	step, least := 8*stride, simd.FillDouble16(minusInf)
	l := 0
	for ; l+3*simd.Doubles16 < stride; l += 4 * simd.Doubles16 {
		row := unsafe.Pointer(&table[l])
		m0, m1, m2, m3 := least, least, least, least
		for k := range y {
			v := simd.BroadcastDouble16(q, k)
			m0 = m0.Max(v.Add(simd.LoadDouble16(row, 0)))
			m1 = m1.Max(v.Add(simd.LoadDouble16(row, simd.Doubles16)))
			m2 = m2.Max(v.Add(simd.LoadDouble16(row, 2*simd.Doubles16)))
			m3 = m3.Max(v.Add(simd.LoadDouble16(row, 3*simd.Doubles16)))
			row = unsafe.Add(row, step)
		}
		simd.StoreDouble16(p, l, simd.LoadDouble16(p, l).Add(m0))
		simd.StoreDouble16(p, l+simd.Doubles16, simd.LoadDouble16(p, l+simd.Doubles16).Add(m1))
		simd.StoreDouble16(p, l+2*simd.Doubles16, simd.LoadDouble16(p, l+2*simd.Doubles16).Add(m2))
		simd.StoreDouble16(p, l+3*simd.Doubles16, simd.LoadDouble16(p, l+3*simd.Doubles16).Add(m3))
	}
	for ; l < stride; l += simd.Doubles16 {
		row := unsafe.Pointer(&table[l])
		m0, m1 := least, least
		k := 0
		for ; k+1 < y; k += 2 {
			m0 = m0.Max(simd.BroadcastDouble16(q, k).Add(simd.LoadDouble16(row, 0)))
			m1 = m1.Max(simd.BroadcastDouble16(q, k+1).Add(simd.LoadDouble16(row, stride)))
			row = unsafe.Add(row, 2*step)
		}
		if k < y {
			m0 = m0.Max(simd.BroadcastDouble16(q, k).Add(simd.LoadDouble16(row, 0)))
		}
		simd.StoreDouble16(p, l, simd.LoadDouble16(p, l).Add(m0.Max(m1)))
	}
	archsimd.ClearAVXUpperBits()
}

// maxDots16 collects results in a block of whole vectors, each over the rest of the one before, since a scalar store
// would be slow here.
func maxDots16(to, x, table []float64, y int) {
	var block [2 * simd.Doubles16]float64
	b, p, q, row := unsafe.Pointer(&block), unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&table[0])
	stride := len(to)
	for l := range y {
		m := simd.LoadDouble16(q, 0).Add(simd.LoadDouble16(row, 0))
		for k := simd.Doubles16; k < stride; k += simd.Doubles16 {
			m = m.Max(simd.LoadDouble16(q, k).Add(simd.LoadDouble16(row, k)))
		}
		at := l & (simd.Doubles16 - 1)
		simd.StoreDouble16(b, at, simd.LargestsDouble16(m))
		if at == simd.Doubles16-1 || l == y-1 {
			simd.StoreDouble16(p, l-at, simd.LoadDouble16(p, l-at).Add(simd.LoadDouble16(b, 0).Masked(simd.FirstDouble16(at+1))))
		}
		row = unsafe.Add(row, 8*stride)
	}
	archsimd.ClearAVXUpperBits()
}

func argmax16(x, y []float64) int {
	p, q := unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	m := simd.LoadDouble16(p, 0).Add(simd.LoadDouble16(q, 0))
	if len(x) == simd.Doubles16 {
		hit := m.Equal(simd.LargestsDouble16(m)).ToBits()
		archsimd.ClearAVXUpperBits()
		return bits.TrailingZeros8(hit)
	}
	for l := simd.Doubles16; l < len(x); l += simd.Doubles16 {
		m = m.Max(simd.LoadDouble16(p, l).Add(simd.LoadDouble16(q, l)))
	}
	m = simd.LargestsDouble16(m)
	for l := 0; l < len(x); l += simd.Doubles16 {
		if hit := simd.LoadDouble16(p, l).Add(simd.LoadDouble16(q, l)).Equal(m).ToBits(); hit != 0 {
			archsimd.ClearAVXUpperBits()
			return l + bits.TrailingZeros8(hit)
		}
	}
	return 0
}

// exps16 computes exponentials to about 9 digits.
func exps16(to []float64, from []float32, rows, y, stride int, scale float64) (most, least float64) {
	var zero archsimd.Float64x8
	whole, minus, times := y&^(simd.Doubles16-1), simd.FillDouble16(minusInf), simd.FillDouble16(scale)
	in := simd.FirstDouble16(y - whole)
	var total, lowest archsimd.Float64x8
	for i := range rows {
		row, x := to[i*stride:][:stride], from[i*y:][:y]
		p, q := unsafe.Pointer(&row[0]), unsafe.Pointer(&x[0])
		m := minus
		for l := 0; l < whole; l += simd.Doubles16 {
			m = m.Max(simd.LoadWidened16(q, l))
		}
		end := minus
		if whole < y {
			end = simd.WidenPart16(x[whole:]).Merge(minus, in)
			m = m.Max(end)
		}
		m = simd.LargestsDouble16(m)
		total = total.Add(m)
		for l := 0; l < whole; l += simd.Doubles16 {
			e := simd.LoadWidened16(q, l).Sub(m).Mul(times)
			lowest = lowest.Min(e.Masked(e.Greater(minus)))
			simd.StoreDouble16(p, l, exp16(e))
		}
		if whole < y {
			e := end.Sub(m).Mul(times)
			lowest = lowest.Min(e.Masked(e.Greater(minus)))
			simd.StoreDouble16(p, whole, exp16(e))
		}
	}
	lowest = simd.LargestsDouble16(zero.Sub(lowest))
	most, least = simd.HeadDouble16(total), simd.HeadDouble16(lowest)
	archsimd.ClearAVXUpperBits()
	return most, -least
}

func expsFrom16(to []float64, from []float32, rows, y, stride int, most, scale float64) (least float64) {
	var zero archsimd.Float64x8
	whole, minus, times, m := y&^(simd.Doubles16-1), simd.FillDouble16(minusInf), simd.FillDouble16(scale),
		simd.FillDouble16(most)
	in := simd.FirstDouble16(y - whole)
	var lowest archsimd.Float64x8
	for i := range rows {
		row, x := to[i*stride:][:stride], from[i*y:][:y]
		p, q := unsafe.Pointer(&row[0]), unsafe.Pointer(&x[0])
		for l := 0; l < whole; l += simd.Doubles16 {
			e := simd.LoadWidened16(q, l).Sub(m).Mul(times)
			lowest = lowest.Min(e.Masked(e.Greater(minus)))
			simd.StoreDouble16(p, l, exp16(e))
		}
		if whole < y {
			e := simd.WidenPart16(x[whole:]).Merge(minus, in).Sub(m).Mul(times)
			lowest = lowest.Min(e.Masked(e.Greater(minus)))
			simd.StoreDouble16(p, whole, exp16(e))
		}
	}
	least = -simd.HeadDouble16(simd.LargestsDouble16(zero.Sub(lowest)))
	archsimd.ClearAVXUpperBits()
	return least
}

// exp16 returns exp(x) to about 9 digits for x ≤ 0, and 0 if the result is subnormal: 2^n exp(r) with n = round(x
// log₂e), |r| ≤ ln2/2, and the Taylor polynomial of degree 8.
func exp16(x archsimd.Float64x8) archsimd.Float64x8 {
	normal := x.Greater(simd.FillDouble16(-708))
	shifted := x.MulAdd(simd.FillDouble16(log2E), simd.FillDouble16(rounder))
	r := shifted.Sub(simd.FillDouble16(rounder)).MulAdd(simd.FillDouble16(-ln2), x)
	p := r.MulAdd(simd.FillDouble16(1.0/40320), simd.FillDouble16(1.0/5040))
	p = p.MulAdd(r, simd.FillDouble16(1.0/720)).MulAdd(r, simd.FillDouble16(1.0/120)).MulAdd(r, simd.FillDouble16(1.0/24))
	p = p.MulAdd(r, simd.FillDouble16(1.0/6)).MulAdd(r, simd.FillDouble16(0.5)).MulAdd(r, simd.FillDouble16(1)).
		MulAdd(r, simd.FillDouble16(1))
	return simd.LdexpDouble16(p, shifted).Masked(normal)
}

func expSums16(to, x, table, m []float64, y int) {
	p, q, n := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&m[0])
	stride := len(to)
	for l := 0; l < stride; l += simd.Doubles16 {
		row, shift, s := unsafe.Pointer(&table[l]), simd.LoadDouble16(n, l), archsimd.Float64x8{}
		for k := range y {
			s = s.Add(exp16(simd.BroadcastDouble16(q, k).Add(simd.LoadDouble16(row, 0)).Sub(shift)))
			row = unsafe.Add(row, 8*stride)
		}
		simd.StoreDouble16(p, l, s)
	}
	archsimd.ClearAVXUpperBits()
}

func jointExps16(g, rows, cols, a, b, table []float64, y int) {
	clear(cols)
	p, q, c, r := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&cols[0]), unsafe.Pointer(&rows[0])
	stride := len(b)
	for k := range y {
		v, s := simd.BroadcastDouble16(p, k), archsimd.Float64x8{}
		row, t := unsafe.Pointer(&g[k*stride]), unsafe.Pointer(&table[k*stride])
		for l := 0; l < stride; l += simd.Doubles16 {
			e := exp16(v.Add(simd.LoadDouble16(t, l)).Add(simd.LoadDouble16(q, l)))
			simd.StoreDouble16(row, l, simd.LoadDouble16(row, l).Add(e))
			simd.StoreDouble16(c, l, simd.LoadDouble16(c, l).Add(e))
			s = s.Add(e)
		}
		// a whole vector, since a scalar would be slow here: the next rows overwrite the rest
		simd.StoreDouble16(r, k, simd.SumsDouble16(s))
	}
	archsimd.ClearAVXUpperBits()
	clear(rows[y:])
}

func sums16(to, x, table []float64, y int) {
	p, q := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0])
	stride := len(to)
	step := 8 * stride
	l := 0
	for ; l+3*simd.Doubles16 < stride; l += 4 * simd.Doubles16 {
		row := unsafe.Pointer(&table[l])
		var s0, s1, s2, s3 archsimd.Float64x8
		for k := range y {
			v := simd.BroadcastDouble16(q, k)
			s0 = v.MulAdd(simd.LoadDouble16(row, 0), s0)
			s1 = v.MulAdd(simd.LoadDouble16(row, simd.Doubles16), s1)
			s2 = v.MulAdd(simd.LoadDouble16(row, 2*simd.Doubles16), s2)
			s3 = v.MulAdd(simd.LoadDouble16(row, 3*simd.Doubles16), s3)
			row = unsafe.Add(row, step)
		}
		simd.StoreDouble16(p, l, s0)
		simd.StoreDouble16(p, l+simd.Doubles16, s1)
		simd.StoreDouble16(p, l+2*simd.Doubles16, s2)
		simd.StoreDouble16(p, l+3*simd.Doubles16, s3)
	}
	for ; l < stride; l += simd.Doubles16 {
		row := unsafe.Pointer(&table[l])
		var s0, s1 archsimd.Float64x8
		k := 0
		for ; k+1 < y; k += 2 {
			s0 = simd.BroadcastDouble16(q, k).MulAdd(simd.LoadDouble16(row, 0), s0)
			s1 = simd.BroadcastDouble16(q, k+1).MulAdd(simd.LoadDouble16(row, stride), s1)
			row = unsafe.Add(row, 2*step)
		}
		if k < y {
			s0 = simd.BroadcastDouble16(q, k).MulAdd(simd.LoadDouble16(row, 0), s0)
		}
		simd.StoreDouble16(p, l, s0.Add(s1))
	}
	archsimd.ClearAVXUpperBits()
}

// dots16 collects results as maxDots16 does.
func dots16(to, x, table []float64, y int) {
	var block [2 * simd.Doubles16]float64
	b, p, q, row := unsafe.Pointer(&block), unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&table[0])
	stride := len(to)
	for l := range y {
		var s archsimd.Float64x8
		for k := 0; k < stride; k += simd.Doubles16 {
			s = simd.LoadDouble16(q, k).MulAdd(simd.LoadDouble16(row, k), s)
		}
		at := l & (simd.Doubles16 - 1)
		simd.StoreDouble16(b, at, simd.SumsDouble16(s))
		if at == simd.Doubles16-1 || l == y-1 {
			simd.StoreDouble16(p, l-at, simd.LoadDouble16(b, 0).Masked(simd.FirstDouble16(at+1)))
		}
		row = unsafe.Add(row, 8*stride)
	}
	archsimd.ClearAVXUpperBits()
}

func multiply16(to, x, floor []float64) {
	var zero archsimd.Float64x8
	p, q, f := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&floor[0])
	low := simd.LoadDouble16(f, 0)
	for l := 0; l < len(to); l += simd.Doubles16 {
		a := simd.LoadDouble16(q, l)
		b := simd.LoadDouble16(p, l).Mul(a)
		simd.StoreDouble16(p, l, b)
		low = low.Min(a.Merge(low, a.Greater(zero)))
		low = low.Min(b.Merge(low, b.Greater(zero)))
	}
	simd.StoreDouble16(f, 0, low)
	archsimd.ClearAVXUpperBits()
}

func normalise16(x []float64) float64 {
	p := unsafe.Pointer(&x[0])
	s := simd.LoadDouble16(p, 0)
	for l := simd.Doubles16; l < len(x); l += simd.Doubles16 {
		s = s.Add(simd.LoadDouble16(p, l))
	}
	s = simd.SumsDouble16(s)
	scale := simd.FillDouble16(1).Div(s)
	for l := 0; l < len(x); l += simd.Doubles16 {
		simd.StoreDouble16(p, l, simd.LoadDouble16(p, l).Mul(scale))
	}
	sum := simd.HeadDouble16(s)
	archsimd.ClearAVXUpperBits()
	return sum
}

func divide16(to, x, y []float64) {
	var zero archsimd.Float64x8
	r, p, q := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for l := 0; l < len(to); l += simd.Doubles16 {
		v := simd.LoadDouble16(q, l)
		simd.StoreDouble16(r, l, simd.LoadDouble16(p, l).Div(v).Masked(v.Greater(zero)))
	}
	archsimd.ClearAVXUpperBits()
}

func product16(to []float64, p []float32, x, y []float64) {
	r, a, b, out := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), unsafe.Pointer(&p[0])
	l := 0
	for ; l+simd.Doubles16 <= len(p); l += simd.Doubles16 {
		v := simd.LoadDouble16(a, l).Mul(simd.LoadDouble16(b, l))
		simd.StoreDouble16(r, l, v)
		simd.StoreNarrowed16(out, l, v)
	}
	if l < len(p) {
		v := simd.LoadDouble16(a, l).Mul(simd.LoadDouble16(b, l))
		simd.StoreDouble16(r, l, v)
		simd.StoreNarrowedPart16(p[l:], v)
	}
	archsimd.ClearAVXUpperBits()
}

// outer16 keeps two vectors of each b in registers while it iterates over the rows of g.
func outer16(g, a, b []float64, y, stride int) {
	l := 0
	for ; l+simd.Doubles16 < stride; l += 2 * simd.Doubles16 {
		q, p, row := unsafe.Pointer(&b[l]), unsafe.Pointer(&a[0]), unsafe.Pointer(&g[l])
		b0, b1, b2, b3 := simd.LoadDouble16(q, 0), simd.LoadDouble16(q, stride), simd.LoadDouble16(q, 2*stride),
			simd.LoadDouble16(q, 3*stride)
		q = unsafe.Add(q, 8*simd.Doubles16)
		c0, c1, c2, c3 := simd.LoadDouble16(q, 0), simd.LoadDouble16(q, stride), simd.LoadDouble16(q, 2*stride),
			simd.LoadDouble16(q, 3*stride)
		for range y {
			v := simd.BroadcastDouble16(p, 0)
			s, t := v.MulAdd(b0, simd.LoadDouble16(row, 0)), v.MulAdd(c0, simd.LoadDouble16(row, simd.Doubles16))
			v = simd.BroadcastDouble16(p, stride)
			s, t = v.MulAdd(b1, s), v.MulAdd(c1, t)
			v = simd.BroadcastDouble16(p, 2*stride)
			s, t = v.MulAdd(b2, s), v.MulAdd(c2, t)
			v = simd.BroadcastDouble16(p, 3*stride)
			s, t = v.MulAdd(b3, s), v.MulAdd(c3, t)
			simd.StoreDouble16(row, 0, s)
			simd.StoreDouble16(row, simd.Doubles16, t)
			p, row = unsafe.Add(p, 8), unsafe.Add(row, 8*stride)
		}
	}
	for ; l < stride; l += simd.Doubles16 {
		q, p, row := unsafe.Pointer(&b[l]), unsafe.Pointer(&a[0]), unsafe.Pointer(&g[l])
		b0, b1, b2, b3 := simd.LoadDouble16(q, 0), simd.LoadDouble16(q, stride), simd.LoadDouble16(q, 2*stride),
			simd.LoadDouble16(q, 3*stride)
		for range y {
			s := simd.BroadcastDouble16(p, 0).MulAdd(b0, simd.LoadDouble16(row, 0))
			t := simd.BroadcastDouble16(p, stride).Mul(b1)
			s = simd.BroadcastDouble16(p, 2*stride).MulAdd(b2, s)
			t = simd.BroadcastDouble16(p, 3*stride).MulAdd(b3, t)
			simd.StoreDouble16(row, 0, s.Add(t))
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
		for ; l+simd.Doubles16 <= y; l += simd.Doubles16 {
			simd.StoreNarrowed16(out, l, simd.LoadDouble16(a, l).Mul(simd.LoadDouble16(b, l)))
		}
		if l < y {
			simd.StoreNarrowedPart16(row[l:], simd.LoadDouble16(a, l).Mul(simd.LoadDouble16(b, l)))
		}
	}
	archsimd.ClearAVXUpperBits()
}

func joint16(to []float32, a, b, table []float64, y int) {
	stride := len(b)
	p, q := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0])
	for k := range y {
		row := to[k*y:][:y]
		t, out, v := unsafe.Pointer(&table[k*stride]), unsafe.Pointer(&row[0]), simd.BroadcastDouble16(p, k)
		l := 0
		for ; l+simd.Doubles16 <= y; l += simd.Doubles16 {
			simd.StoreNarrowed16(out, l, v.Mul(simd.LoadDouble16(q, l)).Mul(simd.LoadDouble16(t, l)))
		}
		if l < y {
			simd.StoreNarrowedPart16(row[l:], v.Mul(simd.LoadDouble16(q, l)).Mul(simd.LoadDouble16(t, l)))
		}
	}
	archsimd.ClearAVXUpperBits()
}
