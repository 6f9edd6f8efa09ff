//go:build goexperiment.simd && amd64

package chain

import (
	"math"
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

var singles16 = sumKernels[float32]{
	widest:        widestSingle,
	expError:      3 * 0x1p-24,
	leastPositive: leastPositive16,
	exps:          exps16,
	matVec:        matVec16,
	matDots:       matDots16,
	normalise:     normalise16,
	combine:       combine16,
	edgeSums:      edgeSums16,
}

func bounds16(x []float32) bounds {
	minus, inf := simd.Fill16(minusInf), simd.Fill16(float32(math.Inf(1)))
	lo, hi, least, nan := inf, minus, inf, inf.IsNaN()
	whole := len(x) &^ (simd.Singles16 - 1)
	for i := 0; i < whole; i += simd.Singles16 {
		v := simd.Load16(unsafe.Pointer(&x[i]), 0)
		nan = nan.Or(v.IsNaN())
		least, hi = least.Min(v), hi.Max(v)
		lo = lo.Min(v.Merge(inf, v.Greater(minus)))
	}
	low, top, under, wrong := simd.Smallest16(lo), simd.Largest16(hi), simd.Smallest16(least), nan.ToBits() != 0
	archsimd.ClearAVXUpperBits()
	b := boundsOf(x[whole:])
	b.lo, b.hi, b.all = min(b.lo, low), max(b.hi, top), b.all && under != minusInf
	b.nan = b.nan || wrong
	return b
}

func grandTotal16(x []float32) float32 {
	var s0, s1, s2, s3 archsimd.Float32x16
	p, i := unsafe.Pointer(unsafe.SliceData(x)), 0
	for ; i+4*simd.Singles16 <= len(x); i += 4 * simd.Singles16 {
		s0, s1 = s0.Add(simd.Load16(p, i)), s1.Add(simd.Load16(p, i+simd.Singles16))
		s2, s3 = s2.Add(simd.Load16(p, i+2*simd.Singles16)), s3.Add(simd.Load16(p, i+3*simd.Singles16))
	}
	for ; i+simd.Singles16 <= len(x); i += simd.Singles16 {
		s0 = s0.Add(simd.Load16(p, i))
	}
	s := simd.Sum16(s0.Add(s1).Add(s2.Add(s3)))
	archsimd.ClearAVXUpperBits()
	return s + grandTotal(x[i:])
}

func leastPositive16(x []float32) float32 {
	var zero archsimd.Float32x16
	inf := simd.Fill16(float32(math.Inf(1)))
	lo := inf
	for i := 0; i < len(x); i += simd.Singles16 {
		v := simd.Load16(unsafe.Pointer(&x[i]), 0)
		lo = lo.Min(v.Merge(inf, v.Greater(zero)))
	}
	least := simd.Smallest16(lo)
	archsimd.ClearAVXUpperBits()
	return least
}

// exps16 requires exponents of at most 0.
func exps16(to, from []float32, rows, y, stride int, shift float32, scale float64) {
	if shift == minusInf {
		shift = 0
	}
	top := simd.Fill16(shift)
	hi := float32(scale)
	scaleHi, scaleLo := simd.Fill16(hi), simd.Fill16(float32(scale-float64(hi)))
	tail := y &^ (simd.Singles16 - 1)
	in := simd.First16(y - tail)
	for i := range rows {
		row, end := to[i*stride:(i+1)*stride], from[i*y:(i+1)*y]
		p, q := unsafe.Pointer(&row[0]), unsafe.Pointer(&end[0])
		for j := 0; j < tail; j += simd.Singles16 {
			d := simd.Load16(q, j).Sub(top)
			simd.Store16(p, j, exp16(d.MulAdd(scaleHi, d.Mul(scaleLo))))
		}
		if tail < y {
			d := simd.LoadFirst16(q, tail, in).Sub(top)
			simd.Store16(p, tail, exp16(d.MulAdd(scaleHi, d.Mul(scaleLo))).Masked(in))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// exp16 returns exp(x) for x ≤ 0, and 0 if the result is subnormal.
func exp16(x archsimd.Float32x16) archsimd.Float32x16 {
	k := unsafe.Pointer(&expConstants)
	normal := x.Greater(simd.Load16(k, expNormal))
	rounder := simd.Load16(k, expRounder)
	shifted := x.MulAdd(simd.Load16(k, expLog2E), rounder)
	n := shifted.Sub(rounder)
	r := n.MulAdd(simd.Load16(k, expLn2Hi), x)
	r = n.MulAdd(simd.Load16(k, expLn2Lo), r)
	p := r.MulAdd(simd.Load16(k, expP0), simd.Load16(k, expP1))
	p = p.MulAdd(r, simd.Load16(k, expP2))
	p = p.MulAdd(r, simd.Load16(k, expP3))
	p = p.MulAdd(r, simd.Load16(k, expP4))
	p = p.MulAdd(r, simd.Load16(k, expP5))
	p = p.MulAdd(r.Mul(r), r.Add(simd.Load16(k, expOne)))
	return p.AsInt32x16().Add(shifted.AsInt32x16().ShiftAllLeft(23)).AsFloat32x16().Masked(normal)
}

// matVec16 keeps up to four vectors of next in registers while it iterates over the rows. For the last vectors it sums
// two rows at once.
func matVec16(next, prev, m []float32, y int) {
	if y > run {
		longMatVec16(next, prev, m, y)
		return
	}
	to, p := unsafe.Pointer(&next[0]), unsafe.Pointer(&prev[0])
	stride := len(next)
	step := 4 * stride
	j := 0
	for ; j+3*simd.Singles16 < stride; j += 4 * simd.Singles16 {
		row := unsafe.Pointer(&m[j])
		var s0, s1, s2, s3 archsimd.Float32x16
		for i := range y {
			v := simd.Broadcast16(p, i)
			s0 = v.MulAdd(simd.Load16(row, 0), s0)
			s1 = v.MulAdd(simd.Load16(row, simd.Singles16), s1)
			s2 = v.MulAdd(simd.Load16(row, 2*simd.Singles16), s2)
			s3 = v.MulAdd(simd.Load16(row, 3*simd.Singles16), s3)
			row = unsafe.Add(row, step)
		}
		simd.Store16(to, j, s0)
		simd.Store16(to, j+simd.Singles16, s1)
		simd.Store16(to, j+2*simd.Singles16, s2)
		simd.Store16(to, j+3*simd.Singles16, s3)
	}
	for ; j+simd.Singles16 < stride; j += 2 * simd.Singles16 {
		row := unsafe.Pointer(&m[j])
		var s0, s1, s2, s3 archsimd.Float32x16
		i := 0
		for ; i+1 < y; i += 2 {
			v, w := simd.Broadcast16(p, i), simd.Broadcast16(p, i+1)
			s0 = v.MulAdd(simd.Load16(row, 0), s0)
			s1 = v.MulAdd(simd.Load16(row, simd.Singles16), s1)
			row = unsafe.Add(row, step)
			s2 = w.MulAdd(simd.Load16(row, 0), s2)
			s3 = w.MulAdd(simd.Load16(row, simd.Singles16), s3)
			row = unsafe.Add(row, step)
		}
		if i < y {
			v := simd.Broadcast16(p, i)
			s0 = v.MulAdd(simd.Load16(row, 0), s0)
			s1 = v.MulAdd(simd.Load16(row, simd.Singles16), s1)
		}
		simd.Store16(to, j, s0.Add(s2))
		simd.Store16(to, j+simd.Singles16, s1.Add(s3))
	}
	if j < stride {
		row := unsafe.Pointer(&m[j])
		var s0, s1, s2, s3 archsimd.Float32x16
		i := 0
		for ; i+3 < y; i += 4 {
			s0 = simd.Broadcast16(p, i).MulAdd(simd.Load16(row, 0), s0)
			s1 = simd.Broadcast16(p, i+1).MulAdd(simd.Load16(row, stride), s1)
			s2 = simd.Broadcast16(p, i+2).MulAdd(simd.Load16(row, 2*stride), s2)
			s3 = simd.Broadcast16(p, i+3).MulAdd(simd.Load16(row, 3*stride), s3)
			row = unsafe.Add(row, 4*step)
		}
		for ; i < y; i++ {
			s0 = simd.Broadcast16(p, i).MulAdd(simd.Load16(row, 0), s0)
			row = unsafe.Add(row, step)
		}
		simd.Store16(to, j, s0.Add(s1).Add(s2.Add(s3)))
	}
	archsimd.ClearAVXUpperBits()
}

// longMatVec16 is matVec16 for more rows than a run has. It adds the sums of runs in further registers.
func longMatVec16(next, prev, m []float32, y int) {
	to, p := unsafe.Pointer(&next[0]), unsafe.Pointer(&prev[0])
	stride := len(next)
	step := 4 * stride
	j := 0
	for ; j+3*simd.Singles16 < stride; j += 4 * simd.Singles16 {
		row := unsafe.Pointer(&m[j])
		var t0, t1, t2, t3 archsimd.Float32x16
		for lo := 0; lo < y; lo += run {
			var s0, s1, s2, s3 archsimd.Float32x16
			for i := range min(run, y-lo) {
				v := simd.Broadcast16(p, lo+i)
				s0 = v.MulAdd(simd.Load16(row, 0), s0)
				s1 = v.MulAdd(simd.Load16(row, simd.Singles16), s1)
				s2 = v.MulAdd(simd.Load16(row, 2*simd.Singles16), s2)
				s3 = v.MulAdd(simd.Load16(row, 3*simd.Singles16), s3)
				row = unsafe.Add(row, step)
			}
			t0, t1, t2, t3 = t0.Add(s0), t1.Add(s1), t2.Add(s2), t3.Add(s3)
		}
		simd.Store16(to, j, t0)
		simd.Store16(to, j+simd.Singles16, t1)
		simd.Store16(to, j+2*simd.Singles16, t2)
		simd.Store16(to, j+3*simd.Singles16, t3)
	}
	for ; j+simd.Singles16 < stride; j += 2 * simd.Singles16 {
		row := unsafe.Pointer(&m[j])
		var t0, t1 archsimd.Float32x16
		for lo := 0; lo < y; lo += run {
			var s0, s1, s2, s3 archsimd.Float32x16
			i, hi := lo, min(y, lo+run)
			for ; i+1 < hi; i += 2 {
				v, w := simd.Broadcast16(p, i), simd.Broadcast16(p, i+1)
				s0 = v.MulAdd(simd.Load16(row, 0), s0)
				s1 = v.MulAdd(simd.Load16(row, simd.Singles16), s1)
				row = unsafe.Add(row, step)
				s2 = w.MulAdd(simd.Load16(row, 0), s2)
				s3 = w.MulAdd(simd.Load16(row, simd.Singles16), s3)
				row = unsafe.Add(row, step)
			}
			if i < hi {
				v := simd.Broadcast16(p, i)
				s0 = v.MulAdd(simd.Load16(row, 0), s0)
				s1 = v.MulAdd(simd.Load16(row, simd.Singles16), s1)
			}
			s0, s1 = s0.Add(s2), s1.Add(s3)
			if lo > 0 {
				s0, s1 = s0.Add(t0), s1.Add(t1)
			}
			t0, t1 = s0, s1
		}
		simd.Store16(to, j, t0)
		simd.Store16(to, j+simd.Singles16, t1)
	}
	if j < stride {
		row := unsafe.Pointer(&m[j])
		var t0 archsimd.Float32x16
		for lo := 0; lo < y; lo += run {
			var s0, s1, s2, s3 archsimd.Float32x16
			i, hi := lo, min(y, lo+run)
			for ; i+3 < hi; i += 4 {
				s0 = simd.Broadcast16(p, i).MulAdd(simd.Load16(row, 0), s0)
				s1 = simd.Broadcast16(p, i+1).MulAdd(simd.Load16(row, stride), s1)
				s2 = simd.Broadcast16(p, i+2).MulAdd(simd.Load16(row, 2*stride), s2)
				s3 = simd.Broadcast16(p, i+3).MulAdd(simd.Load16(row, 3*stride), s3)
				row = unsafe.Add(row, 4*step)
			}
			for ; i < hi; i++ {
				s0 = simd.Broadcast16(p, i).MulAdd(simd.Load16(row, 0), s0)
				row = unsafe.Add(row, step)
			}
			s0 = s0.Add(s1).Add(s2.Add(s3))
			if lo > 0 {
				s0 = s0.Add(t0)
			}
			t0 = s0
		}
		simd.Store16(to, j, t0)
	}
	archsimd.ClearAVXUpperBits()
}

// longRow16 is the length from which a row has more than one run of vectors.
const longRow16 = run*simd.Singles16 + 1

func matDots16(next, prev, m []float32, y int) {
	to, p, row := unsafe.Pointer(&next[0]), unsafe.Pointer(&prev[0]), unsafe.Pointer(&m[0])
	stride := len(next)
	for i := range y {
		s := simd.Load16(p, 0).Mul(simd.Load16(row, 0))
		if stride < longRow16 {
			for j := simd.Singles16; j < stride; j += simd.Singles16 {
				s = simd.Load16(p, j).MulAdd(simd.Load16(row, j), s)
			}
		} else {
			s = longDot16(p, row, stride)
		}
		simd.StoreSum16(to, i, s)
		row = unsafe.Add(row, 4*stride)
	}
	archsimd.ClearAVXUpperBits()
	clear(next[y:])
}

// longDot16 returns vectors whose lanes add up to the product of two rows of n numbers.
func longDot16(p, q unsafe.Pointer, n int) archsimd.Float32x16 {
	var total archsimd.Float32x16
	for lo := 0; lo < n; lo += run * simd.Singles16 {
		s, hi := archsimd.Float32x16{}, min(n, lo+run*simd.Singles16)
		for j := lo; j < hi; j += simd.Singles16 {
			s = simd.Load16(p, j).MulAdd(simd.Load16(q, j), s)
		}
		total = total.Add(s)
	}
	return total
}

func normalise16(x, a, b []float32) float32 {
	to, p, q := unsafe.Pointer(&x[0]), unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0])
	var s archsimd.Float32x16
	for j := 0; j < len(x); j += simd.Singles16 {
		v := simd.Load16(p, j).Mul(simd.Load16(q, j))
		simd.Store16(to, j, v)
		s = s.Add(v)
	}
	if len(x) >= longRow16 {
		s = longDot16(p, q, len(x))
	}
	scale, sum := simd.OverSum16(s)
	for j := 0; j < len(x); j += simd.Singles16 {
		simd.Store16(to, j, simd.Load16(to, j).Mul(scale))
	}
	c := sum.GetElem(0)
	archsimd.ClearAVXUpperBits()
	return c
}

func combine16(g, p, n, s, β []float32) {
	var zero archsimd.Float32x16
	toG, toP := unsafe.Pointer(&g[0]), unsafe.Pointer(&p[0])
	pn, ps, pβ := unsafe.Pointer(&n[0]), unsafe.Pointer(&s[0]), unsafe.Pointer(&β[0])
	var sum archsimd.Float32x16
	for j := 0; j < len(g); j += simd.Singles16 {
		v := simd.Load16(ps, j)
		w := simd.Load16(pn, j).Mul(simd.Load16(pβ, j)).Masked(v.Greater(zero))
		simd.Store16(toG, j, w)
		sum = v.MulAdd(w, sum)
	}
	if len(g) >= longRow16 {
		sum = longDot16(ps, toG, len(g))
	}
	scale, _ := simd.OverSum16(sum)
	for j := 0; j < len(g); j += simd.Singles16 {
		w := simd.Load16(toG, j).Mul(scale)
		simd.Store16(toG, j, w)
		simd.Store16(toP, j, w.Mul(simd.Load16(ps, j)))
	}
	archsimd.ClearAVXUpperBits()
}

// edgeSums16 is a matrix product in blocks of 4 rows and up to two vectors, which stay in registers while t runs.
func edgeSums16(to, α, g, edge []float32, y, stride, steps int) {
	from, step := unsafe.Pointer(unsafe.SliceData(g)), 4*stride
	for i := 0; i < y; i += 4 {
		j := 0
		for ; j+simd.Singles16 < stride; j += 2 * simd.Singles16 {
			a, b := unsafe.Pointer(&α[i]), unsafe.Add(from, 4*j)
			var s00, s10, s20, s30 archsimd.Float32x16
			var s01, s11, s21, s31 archsimd.Float32x16
			for range steps {
				g0, g1 := simd.Load16(b, 0), simd.Load16(b, simd.Singles16)
				v := simd.Broadcast16(a, 0)
				s00, s01 = v.MulAdd(g0, s00), v.MulAdd(g1, s01)
				v = simd.Broadcast16(a, 1)
				s10, s11 = v.MulAdd(g0, s10), v.MulAdd(g1, s11)
				v = simd.Broadcast16(a, 2)
				s20, s21 = v.MulAdd(g0, s20), v.MulAdd(g1, s21)
				v = simd.Broadcast16(a, 3)
				s30, s31 = v.MulAdd(g0, s30), v.MulAdd(g1, s31)
				a, b = unsafe.Add(a, step), unsafe.Add(b, step)
			}
			storeTimes16(to, edge, i, j, y, stride, s00, s10, s20, s30)
			storeTimes16(to, edge, i, j+simd.Singles16, y, stride, s01, s11, s21, s31)
		}
		if j < stride {
			a, b := unsafe.Pointer(&α[i]), unsafe.Add(from, 4*j)
			var s0, s1, s2, s3 archsimd.Float32x16
			for range steps {
				v := simd.Load16(b, 0)
				s0, s1 = simd.Broadcast16(a, 0).MulAdd(v, s0), simd.Broadcast16(a, 1).MulAdd(v, s1)
				s2, s3 = simd.Broadcast16(a, 2).MulAdd(v, s2), simd.Broadcast16(a, 3).MulAdd(v, s3)
				a, b = unsafe.Add(a, step), unsafe.Add(b, step)
			}
			storeTimes16(to, edge, i, j, y, stride, s0, s1, s2, s3)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// storeTimes16 writes a vector of columns from j on, times edge, of up to 4 rows from i on.
func storeTimes16(to, edge []float32, i, j, y, stride int, s0, s1, s2, s3 archsimd.Float32x16) {
	rows := y - i
	p, q := unsafe.Pointer(&edge[i*stride+j]), unsafe.Pointer(&to[i*y+j])
	in := simd.First16(y - j)
	simd.StoreFirst16(q, 0, s0.Mul(simd.Load16(p, 0)), in)
	if rows > 1 {
		simd.StoreFirst16(q, y, s1.Mul(simd.Load16(p, stride)), in)
	}
	if rows > 2 {
		simd.StoreFirst16(q, 2*y, s2.Mul(simd.Load16(p, 2*stride)), in)
	}
	if rows > 3 {
		simd.StoreFirst16(q, 3*y, s3.Mul(simd.Load16(p, 3*stride)), in)
	}
}
