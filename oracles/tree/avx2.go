//go:build goexperiment.simd && amd64

package tree

import (
	"math"
	"math/bits"
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

// avx2 processes 8 float32 or 4 float64 at a time. Its kernels check no bounds; tables are readable one vector beyond
// their ends.
var avx2 = &kernels{
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

// avx512 is avx2 but for sentences abreast.
var avx512 = func() *kernels {
	k := *avx2
	k.name, k.abreast = "AVX-512", &abreast16
	return &k
}()

// maxSplits8 keeps two vectors of spans in registers, and processes two splits at a time, so that the two maxima are
// independent.
func maxSplits8(to, x, y []float32, ox, dx, oy, dy, splits, lanes int) {
	pt, px, py := unsafe.Pointer(&to[0]), simd.At(x), simd.At(y)
	minus := simd.Fill8(float32(math.Inf(-1)))
	i := 0
	for ; i+8 < lanes; i += 16 {
		a, b := ox+i, oy+i
		m0, m1, m2, m3 := minus, minus, minus, minus
		s := splits
		for ; s > 1; s -= 2 {
			m0 = m0.Max(simd.Load8(px, a).Add(simd.Load8(py, b)))
			m1 = m1.Max(simd.Load8(px, a+8).Add(simd.Load8(py, b+8)))
			a, b = a+dx, b+dy
			m2 = m2.Max(simd.Load8(px, a).Add(simd.Load8(py, b)))
			m3 = m3.Max(simd.Load8(px, a+8).Add(simd.Load8(py, b+8)))
			a, b = a+dx, b+dy
		}
		if s > 0 {
			m0 = m0.Max(simd.Load8(px, a).Add(simd.Load8(py, b)))
			m1 = m1.Max(simd.Load8(px, a+8).Add(simd.Load8(py, b+8)))
		}
		simd.Store8(pt, i, m0.Max(m2))
		simd.Store8(pt, i+8, m1.Max(m3))
	}
	if i < lanes {
		a, b := ox+i, oy+i
		m0, m1, m2, m3 := minus, minus, minus, minus
		s := splits
		for ; s > 3; s -= 4 {
			m0 = m0.Max(simd.Load8(px, a).Add(simd.Load8(py, b)))
			m1 = m1.Max(simd.Load8(px, a+dx).Add(simd.Load8(py, b+dy)))
			a, b = a+2*dx, b+2*dy
			m2 = m2.Max(simd.Load8(px, a).Add(simd.Load8(py, b)))
			m3 = m3.Max(simd.Load8(px, a+dx).Add(simd.Load8(py, b+dy)))
			a, b = a+2*dx, b+2*dy
		}
		for ; s > 0; s-- {
			m0 = m0.Max(simd.Load8(px, a).Add(simd.Load8(py, b)))
			a, b = a+dx, b+dy
		}
		simd.Store8(pt, i, m0.Max(m1).Max(m2.Max(m3)))
	}
	archsimd.ClearAVXUpperBits()
}

// sumSplits4 is maxSplits8 with + and × in float64.
func sumSplits4(to, x, y []float64, ox, dx, oy, dy, splits, lanes int) {
	pt, px, py := unsafe.Pointer(&to[0]), simd.At(x), simd.At(y)
	var zero archsimd.Float64x4
	i := 0
	for ; i+12 < lanes; i += 16 {
		a, b := ox+i, oy+i
		s0, s1, s2, s3 := zero, zero, zero, zero
		for range splits {
			s0 = simd.LoadDouble8(px, a).MulAdd(simd.LoadDouble8(py, b), s0)
			s1 = simd.LoadDouble8(px, a+4).MulAdd(simd.LoadDouble8(py, b+4), s1)
			s2 = simd.LoadDouble8(px, a+8).MulAdd(simd.LoadDouble8(py, b+8), s2)
			s3 = simd.LoadDouble8(px, a+12).MulAdd(simd.LoadDouble8(py, b+12), s3)
			a, b = a+dx, b+dy
		}
		simd.StoreDouble8(pt, i, s0)
		simd.StoreDouble8(pt, i+4, s1)
		simd.StoreDouble8(pt, i+8, s2)
		simd.StoreDouble8(pt, i+12, s3)
	}
	for ; i+4 < lanes; i += 8 {
		a, b := ox+i, oy+i
		s0, s1, s2, s3 := zero, zero, zero, zero
		s := splits
		for ; s > 1; s -= 2 {
			s0 = simd.LoadDouble8(px, a).MulAdd(simd.LoadDouble8(py, b), s0)
			s1 = simd.LoadDouble8(px, a+4).MulAdd(simd.LoadDouble8(py, b+4), s1)
			a, b = a+dx, b+dy
			s2 = simd.LoadDouble8(px, a).MulAdd(simd.LoadDouble8(py, b), s2)
			s3 = simd.LoadDouble8(px, a+4).MulAdd(simd.LoadDouble8(py, b+4), s3)
			a, b = a+dx, b+dy
		}
		if s > 0 {
			s0 = simd.LoadDouble8(px, a).MulAdd(simd.LoadDouble8(py, b), s0)
			s1 = simd.LoadDouble8(px, a+4).MulAdd(simd.LoadDouble8(py, b+4), s1)
		}
		simd.StoreDouble8(pt, i, s0.Add(s2))
		simd.StoreDouble8(pt, i+4, s1.Add(s3))
	}
	if i < lanes {
		a, b := ox+i, oy+i
		s0, s1 := zero, zero
		s := splits
		for ; s > 1; s -= 2 {
			s0 = simd.LoadDouble8(px, a).MulAdd(simd.LoadDouble8(py, b), s0)
			s1 = simd.LoadDouble8(px, a+dx).MulAdd(simd.LoadDouble8(py, b+dy), s1)
			a, b = a+2*dx, b+2*dy
		}
		if s > 0 {
			s0 = simd.LoadDouble8(px, a).MulAdd(simd.LoadDouble8(py, b), s0)
		}
		simd.StoreDouble8(pt, i, s0.Add(s1))
	}
	archsimd.ClearAVXUpperBits()
}

func add8(to, x, y []float32) {
	n := len(to) &^ 7
	pt, px, py := simd.At(to), simd.At(x), simd.At(y)
	for i := 0; i < n; i += 8 {
		simd.Store8(pt, i, simd.Load8(px, i).Add(simd.Load8(py, i)))
	}
	archsimd.ClearAVXUpperBits()
	add(to[n:], x[n:], y[n:])
}

func multiply4(to, x, y []float64) {
	n := len(to) &^ 3
	pt, px, py := simd.At(to), simd.At(x), simd.At(y)
	for i := 0; i < n; i += 4 {
		simd.StoreDouble8(pt, i, simd.LoadDouble8(px, i).Mul(simd.LoadDouble8(py, i)))
	}
	archsimd.ClearAVXUpperBits()
	multiply(to[n:], x[n:], y[n:])
}

// first4 and first2 return the first lane. They pass it through memory, so that the compiler cannot convert it before
// the upper halves of the registers are cleared: scalar instructions among vector instructions would cost more than
// everything else.
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
	m := simd.Load8(p, len(x)-8)
	for i := 0; i+8 < len(x); i += 8 {
		m = m.Max(simd.Load8(p, i))
	}
	return first4(simd.LargestInEach8(m))
}

func largest4(x []float64) float64 {
	if len(x) < 4 {
		return largest(x)
	}
	p := unsafe.Pointer(&x[0])
	m := simd.LoadDouble8(p, len(x)-4)
	for i := 0; i+4 < len(x); i += 4 {
		m = m.Max(simd.LoadDouble8(p, i))
	}
	return first2(simd.LargestInEachDouble8(m))
}

func argmax4(x []float64) int {
	p := unsafe.Pointer(&x[0])
	m := simd.LoadDouble8(p, 0)
	for i := 4; i < len(x); i += 4 {
		m = m.Max(simd.LoadDouble8(p, i))
	}
	m = simd.LargestsDouble8(m)
	if m.Greater(simd.FillDouble8(minusInf)).ToBits() == 0 {
		archsimd.ClearAVXUpperBits()
		return -1
	}
	for i := 0; i < len(x); i += 4 {
		if hit := simd.LoadDouble8(p, i).Equal(m).ToBits(); hit != 0 {
			archsimd.ClearAVXUpperBits()
			return i + bits.TrailingZeros8(hit)
		}
	}
	archsimd.ClearAVXUpperBits()
	return -1
}

func above4(x []float64, from int, bound float64) int {
	p, least := unsafe.Pointer(&x[0]), simd.FillDouble8(bound)
	seen := uint8(1)<<(from&3) - 1 // lanes before from
	for i := from &^ 3; i < len(x); i += 4 {
		if hit := simd.LoadDouble8(p, i).Greater(least).ToBits() &^ seen; hit != 0 {
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
	pt, pf := simd.At(to), simd.At(from)
	for i := 0; i < n; i += 4 {
		simd.StoreDouble8(pt, i, simd.LoadWidened8(pf, i))
	}
	archsimd.ClearAVXUpperBits()
	widen(to[n:], from[n:])
}

func contract4(to, x []float64, less float64) {
	pt, px, v := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), simd.FillDouble8(less)
	for i := 0; i < len(to); i += 4 {
		simd.StoreDouble8(pt, i, simd.LoadDouble8(px, i).Sub(v).Max(simd.LoadDouble8(pt, i)))
	}
	archsimd.ClearAVXUpperBits()
}
