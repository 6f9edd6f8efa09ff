//go:build goexperiment.simd && amd64

package tree

import (
	"math"
	"math/bits"
	"simd/archsimd"
	"unsafe"
)

// avx2 processes 8 float32 or 4 float64 at a time. Its kernels check no bounds; tables are readable one vector beyond their ends.
var avx2 = kernels{
	name: "AVX2",
	single: semiring[float32]{
		zero: plain.single.zero, one: plain.single.one,
		splits: maxSplits8, times: add8, plus: maximise,
	},
	double: semiring[float64]{
		zero: plain.double.zero, one: plain.double.one,
		splits: sumSplits4, times: multiply4, plus: plain.double.plus,
	},
	trees: elimination{
		zero: 0, one: 1,
		plus: plain.trees.plus, times: plain.trees.times, over: plain.trees.over, log: math.Log,
		sum: sum4, divide: divide4, eliminate: eliminate4, combine: combine4,
	},
	largest: largest8, largestDouble: largest4,
	exps:     exps4,
	argmax:   argmax4,
	widen:    widen4,
	contract: contract4,
}

type (
	f32x8 = archsimd.Float32x8
	f64x4 = archsimd.Float64x4
)

func load8(p unsafe.Pointer, i int) f32x8 {
	return archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(p, 4*i)))
}

func store8(p unsafe.Pointer, i int, v f32x8) { v.Store((*[8]float32)(unsafe.Add(p, 4*i))) }

func load4(p unsafe.Pointer, i int) f64x4 {
	return archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(p, 8*i)))
}

func store4(p unsafe.Pointer, i int, v f64x4) { v.Store((*[4]float64)(unsafe.Add(p, 8*i))) }

func broadcast4(p unsafe.Pointer, i int) f64x4 {
	return archsimd.BroadcastFloat64x4(*(*float64)(unsafe.Add(p, 8*i)))
}

// maxSplits8 keeps two vectors of spans in registers, and processes two splits at a time, so that the two maxima are independent.
func maxSplits8(to, x, y []float32, ox, dx, oy, dy, splits, lanes int) {
	pt, px, py := unsafe.Pointer(&to[0]), unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y))
	minus := archsimd.BroadcastFloat32x8(float32(math.Inf(-1)))
	i := 0
	for ; i+8 < lanes; i += 16 {
		a, b := ox+i, oy+i
		m0, m1, m2, m3 := minus, minus, minus, minus
		s := splits
		for ; s > 1; s -= 2 {
			m0 = m0.Max(load8(px, a).Add(load8(py, b)))
			m1 = m1.Max(load8(px, a+8).Add(load8(py, b+8)))
			a, b = a+dx, b+dy
			m2 = m2.Max(load8(px, a).Add(load8(py, b)))
			m3 = m3.Max(load8(px, a+8).Add(load8(py, b+8)))
			a, b = a+dx, b+dy
		}
		if s > 0 {
			m0 = m0.Max(load8(px, a).Add(load8(py, b)))
			m1 = m1.Max(load8(px, a+8).Add(load8(py, b+8)))
		}
		store8(pt, i, m0.Max(m2))
		store8(pt, i+8, m1.Max(m3))
	}
	if i < lanes {
		a, b := ox+i, oy+i
		m0, m1, m2, m3 := minus, minus, minus, minus
		s := splits
		for ; s > 3; s -= 4 {
			m0 = m0.Max(load8(px, a).Add(load8(py, b)))
			m1 = m1.Max(load8(px, a+dx).Add(load8(py, b+dy)))
			a, b = a+2*dx, b+2*dy
			m2 = m2.Max(load8(px, a).Add(load8(py, b)))
			m3 = m3.Max(load8(px, a+dx).Add(load8(py, b+dy)))
			a, b = a+2*dx, b+2*dy
		}
		for ; s > 0; s-- {
			m0 = m0.Max(load8(px, a).Add(load8(py, b)))
			a, b = a+dx, b+dy
		}
		store8(pt, i, m0.Max(m1).Max(m2.Max(m3)))
	}
	archsimd.ClearAVXUpperBits()
}

// sumSplits4 is maxSplits8 with + and × in float64.
func sumSplits4(to, x, y []float64, ox, dx, oy, dy, splits, lanes int) {
	pt, px, py := unsafe.Pointer(&to[0]), unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y))
	var zero f64x4
	i := 0
	for ; i+12 < lanes; i += 16 {
		a, b := ox+i, oy+i
		s0, s1, s2, s3 := zero, zero, zero, zero
		for range splits {
			s0 = load4(px, a).MulAdd(load4(py, b), s0)
			s1 = load4(px, a+4).MulAdd(load4(py, b+4), s1)
			s2 = load4(px, a+8).MulAdd(load4(py, b+8), s2)
			s3 = load4(px, a+12).MulAdd(load4(py, b+12), s3)
			a, b = a+dx, b+dy
		}
		store4(pt, i, s0)
		store4(pt, i+4, s1)
		store4(pt, i+8, s2)
		store4(pt, i+12, s3)
	}
	for ; i+4 < lanes; i += 8 {
		a, b := ox+i, oy+i
		s0, s1, s2, s3 := zero, zero, zero, zero
		s := splits
		for ; s > 1; s -= 2 {
			s0 = load4(px, a).MulAdd(load4(py, b), s0)
			s1 = load4(px, a+4).MulAdd(load4(py, b+4), s1)
			a, b = a+dx, b+dy
			s2 = load4(px, a).MulAdd(load4(py, b), s2)
			s3 = load4(px, a+4).MulAdd(load4(py, b+4), s3)
			a, b = a+dx, b+dy
		}
		if s > 0 {
			s0 = load4(px, a).MulAdd(load4(py, b), s0)
			s1 = load4(px, a+4).MulAdd(load4(py, b+4), s1)
		}
		store4(pt, i, s0.Add(s2))
		store4(pt, i+4, s1.Add(s3))
	}
	if i < lanes {
		a, b := ox+i, oy+i
		s0, s1 := zero, zero
		s := splits
		for ; s > 1; s -= 2 {
			s0 = load4(px, a).MulAdd(load4(py, b), s0)
			s1 = load4(px, a+dx).MulAdd(load4(py, b+dy), s1)
			a, b = a+2*dx, b+2*dy
		}
		if s > 0 {
			s0 = load4(px, a).MulAdd(load4(py, b), s0)
		}
		store4(pt, i, s0.Add(s1))
	}
	archsimd.ClearAVXUpperBits()
}

func add8(to, x, y []float32) {
	n := len(to) &^ 7
	pt, px, py := unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y))
	for i := 0; i < n; i += 8 {
		store8(pt, i, load8(px, i).Add(load8(py, i)))
	}
	archsimd.ClearAVXUpperBits()
	add(to[n:], x[n:], y[n:])
}

func multiply4(to, x, y []float64) {
	n := len(to) &^ 3
	pt, px, py := unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y))
	for i := 0; i < n; i += 4 {
		store4(pt, i, load4(px, i).Mul(load4(py, i)))
	}
	archsimd.ClearAVXUpperBits()
	multiply(to[n:], x[n:], y[n:])
}

func largest8(x []float32) float32 {
	if len(x) < 8 {
		return largest(x)
	}
	p := unsafe.Pointer(&x[0])
	m := load8(p, len(x)-8)
	for i := 0; i+8 < len(x); i += 8 {
		m = m.Max(load8(p, i))
	}
	w := m.GetLo().Max(m.GetHi())
	w = w.Max(w.SelectFromPair(2, 3, 0, 1, w))
	v := w.Max(w.SelectFromPair(1, 0, 3, 2, w)).GetElem(0)
	archsimd.ClearAVXUpperBits()
	return v
}

func largest4(x []float64) float64 {
	if len(x) < 4 {
		return largest(x)
	}
	p := unsafe.Pointer(&x[0])
	m := load4(p, len(x)-4)
	for i := 0; i+4 < len(x); i += 4 {
		m = m.Max(load4(p, i))
	}
	w := m.GetLo().Max(m.GetHi())
	v := w.Max(w.SelectFromPair(1, 0, w)).GetElem(0)
	archsimd.ClearAVXUpperBits()
	return v
}

// exps4 computes exp(x) = 2ⁿ exp(r) with n = round(x log₂e), |r| ≤ ln2/2, and the Taylor polynomial of degree 12.
func exps4(to, from []float64, shift, scale, factor float64) {
	n := len(from) &^ 3
	pt, pf := unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(from))
	top, times, scaled := fill4(shift), fill4(scale), fill4(factor)
	least := fill4(leastExponent)
	for i := 0; i < n; i += 4 {
		x := load4(pf, i).Sub(top).Mul(times)
		store4(pt, i, exp4(x).Mul(scaled).Masked(x.Greater(least)))
	}
	archsimd.ClearAVXUpperBits()
	exps(to[n:], from[n:], shift, scale, factor)
}

// exp4 returns exp(x) for −708 < x ≤ 0; elsewhere the result is undefined.
func exp4(x f64x4) f64x4 {
	round := fill4(3 << 51)
	shifted := x.MulAdd(fill4(math.Log2E), round)
	n := shifted.Sub(round)
	r := n.MulAdd(fill4(-0x1.62e42feep-1), x) // few bits of ln2 make the product exact
	r = n.MulAdd(fill4(-0x1.a39ef35793c76p-33), r)
	p := fill4(1.0 / 479001600)
	p = p.MulAdd(r, fill4(1.0/39916800)).MulAdd(r, fill4(1.0/3628800)).MulAdd(r, fill4(1.0/362880))
	p = p.MulAdd(r, fill4(1.0/40320)).MulAdd(r, fill4(1.0/5040)).MulAdd(r, fill4(1.0/720))
	p = p.MulAdd(r, fill4(1.0/120)).MulAdd(r, fill4(1.0/24)).MulAdd(r, fill4(1.0/6))
	p = p.MulAdd(r, fill4(0.5)).MulAdd(r, fill4(1)).MulAdd(r, fill4(1))
	return p.AsInt64x4().Add(shifted.AsInt64x4().ShiftAllLeft(52)).AsFloat64x4()
}

func fill4(x float64) f64x4 { return archsimd.BroadcastFloat64x4(x) }

func total4(v f64x4) float64 {
	w := v.GetLo().Add(v.GetHi())
	return w.Add(w.SelectFromPair(1, 0, w)).GetElem(0)
}

func argmax4(x []float64) int {
	p := unsafe.Pointer(&x[0])
	m := load4(p, 0)
	for i := 4; i < len(x); i += 4 {
		m = m.Max(load4(p, i))
	}
	w := m.GetLo().Max(m.GetHi())
	w = w.Max(w.SelectFromPair(1, 0, w))
	m = w.Broadcast1To4()
	minus := fill4(minusInf)
	for i := 0; i < len(x); i += 4 {
		v := load4(p, i)
		if hit := v.Equal(m).And(v.Greater(minus)).ToBits(); hit != 0 {
			archsimd.ClearAVXUpperBits()
			return i + bits.TrailingZeros8(hit)
		}
	}
	archsimd.ClearAVXUpperBits()
	return -1
}

func widen4(to []float64, from []float32) {
	n := len(from) &^ 3
	pt, pf := unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(from))
	for i := 0; i < n; i += 4 {
		store4(pt, i, archsimd.LoadFloat32x4((*[4]float32)(unsafe.Add(pf, 4*i))).ConvertToFloat64())
	}
	archsimd.ClearAVXUpperBits()
	widen(to[n:], from[n:])
}

func contract4(to, x []float64, less float64) {
	pt, px, v := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), fill4(less)
	for i := 0; i < len(to); i += 4 {
		store4(pt, i, load4(px, i).Sub(v).Max(load4(pt, i)))
	}
	archsimd.ClearAVXUpperBits()
}
