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
		plus: plain.trees.plus, times: plain.trees.times, log: math.Log,
		sum: sum4, divide: divide4, eliminate: eliminate4, combine: combine4,
	},
	largest: largest8, largestDouble: largest4,
	largestOfRows: largestOfRows8,
	shares:        shares8,
	exps:          exps4,
	argmax:        argmax4,
	above:         above4,
	widen:         widen4,
	contract:      contract4,
	abreast:       &abreast8,
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

// first4 and first2 return the first lane. They pass it through memory, so that the compiler cannot convert it before the upper
// halves of the registers are cleared: scalar instructions among vector instructions would cost more than everything else.
func first4(v archsimd.Float32x4) float32 {
	var lanes [4]float32
	v.Store(&lanes)
	archsimd.ClearAVXUpperBits()
	return lanes[0]
}

func first2(v archsimd.Float64x2) float64 {
	var lanes [2]float64
	v.Store(&lanes)
	archsimd.ClearAVXUpperBits()
	return lanes[0]
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
	return first4(largests8(m))
}

// largests8 returns the largest lane in each of four.
func largests8(v f32x8) archsimd.Float32x4 {
	w := v.GetLo().Max(v.GetHi())
	w = w.Max(w.SelectFromPair(2, 3, 0, 1, w))
	return w.Max(w.SelectFromPair(1, 0, 3, 2, w))
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
	return first2(largests4(m))
}

// largests4 returns the largest lane in each of two.
func largests4(v f64x4) archsimd.Float64x2 {
	w := v.GetLo().Max(v.GetHi())
	return w.Max(w.SelectFromPair(1, 0, w))
}

func fill4(x float64) f64x4 { return archsimd.BroadcastFloat64x4(x) }

func argmax4(x []float64) int {
	p := unsafe.Pointer(&x[0])
	m := load4(p, 0)
	for i := 4; i < len(x); i += 4 {
		m = m.Max(load4(p, i))
	}
	m = largests4(m).Broadcast1To4()
	if m.Greater(fill4(minusInf)).ToBits() == 0 {
		archsimd.ClearAVXUpperBits()
		return -1
	}
	for i := 0; i < len(x); i += 4 {
		if hit := load4(p, i).Equal(m).ToBits(); hit != 0 {
			archsimd.ClearAVXUpperBits()
			return i + bits.TrailingZeros8(hit)
		}
	}
	archsimd.ClearAVXUpperBits()
	return -1
}

func above4(x []float64, from int, bound float64) int {
	p, least := unsafe.Pointer(&x[0]), fill4(bound)
	seen := uint8(1)<<(from&3) - 1 // lanes before from
	for i := from &^ 3; i < len(x); i += 4 {
		if hit := load4(p, i).Greater(least).ToBits() &^ seen; hit != 0 {
			archsimd.ClearAVXUpperBits()
			return i + bits.TrailingZeros8(hit)
		}
		seen = 0
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
