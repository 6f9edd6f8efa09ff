//go:build goexperiment.simd && amd64

package matching

import (
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

// avx512 processes 8 float64 or 16 float32 at a time. Its kernels check no bounds.
var avx512 = &kernels{
	name:   "AVX-512",
	negate: negate8, lower: lower8, through: through16,
	leastTwo: func(c []float32, v []float64) (float64, int, float64) {
		if len(c) < long {
			return leastTwo8(c, v)
		}
		return leastTwo16(c, v)
	},
	relax: func(c []float32, v, d []float64, from []int64, base float64, i int64) (float64, int) {
		if len(c) < long {
			return relax8(c, v, d, from, base, i)
		}
		return relax16(c, v, d, from, base, i)
	},
}

// long is the length from which rows gain by wider vectors: their results take longer to collect.
const long = 256

// leastTwo16 keeps two vectors of each result, for the even and the odd vectors of the row.
func leastTwo16(c []float32, v []float64) (float64, int, float64) {
	pc, pv := simd.At(c), simd.At(v)
	least0, step := simd.FillDouble16(inf), archsimd.BroadcastInt64x8(lanes)
	least1, second0, second1 := least0, least0, least0
	here := simd.IotaDouble16()
	at0, at1 := here, here
	for j := 0; j < len(c); j += lanes {
		x, y := simd.LoadWidened16(pc, j).Sub(simd.LoadDouble16(pv, j)),
			simd.LoadWidened16(pc, j+8).Sub(simd.LoadDouble16(pv, j+8))
		second0, second1 = second0.Min(least0.Max(x)), second1.Min(least1.Max(y))
		at0, at1 = here.Merge(at0, x.Less(least0)), here.Merge(at1, y.Less(least1))
		least0, least1 = least0.Min(x), least1.Min(y)
		here = here.Add(step)
	}
	var s lanes8
	s.store(least0, least1, at0, at1)
	second0.Min(second1).Min(least0.Max(least1)).Store(&s.second)
	archsimd.ClearAVXUpperBits()
	k := s.first()
	second := s.second[0]
	for l := 1; l < 8; l++ {
		second = min2(second, s.second[l])
	}
	for l, x := range s.least {
		if l != k {
			second = min2(second, x)
		}
	}
	return s.least[k], int(s.at[k]), second
}

// lanes8 holds the results of 8 lanes.
type lanes8 struct {
	least, second [8]float64
	at            [8]int64
}

// store takes the better of the even and the odd vectors' results; the places of the odd ones count from 8.
func (s *lanes8) store(least0, least1 archsimd.Float64x8, at0, at1 archsimd.Int64x8) {
	at1 = at1.Add(archsimd.BroadcastInt64x8(8))
	other := least1.Less(least0).Or(least1.Equal(least0).And(at1.Less(at0)))
	at1.Merge(at0, other).Store(&s.at)
	least0.Min(least1).Store(&s.least)
}

// first returns the lane of the least number, which has the first place among equals.
func (s *lanes8) first() (k int) {
	least, at := s.least[0], s.at[0]
	for l := 1; l < 8; l++ {
		if x, j := s.least[l], s.at[l]; x < least || x == least && j < at {
			least, at, k = x, j, l
		}
	}
	return k
}

func min2(x, y float64) float64 {
	if y < x {
		return y
	}
	return x
}

func relax16(c []float32, v, d []float64, from []int64, base float64, i int64) (float64, int) {
	pc, pv := simd.At(c), simd.At(v)
	pd, pf := simd.At(d), simd.At(from)
	plus, row := simd.FillDouble16(base), archsimd.BroadcastInt64x8(i)
	least0, step := simd.FillDouble16(inf), archsimd.BroadcastInt64x8(lanes)
	least1 := least0
	here := simd.IotaDouble16()
	at0, at1 := here, here
	for j := 0; j < len(c); j += lanes {
		x, y := simd.LoadWidened16(pc, j).Sub(simd.LoadDouble16(pv, j)).Add(plus),
			simd.LoadWidened16(pc, j+8).Sub(simd.LoadDouble16(pv, j+8)).Add(plus)
		old0, old1 := simd.LoadDouble16(pd, j), simd.LoadDouble16(pd, j+8)
		row.StoreMasked((*[8]int64)(unsafe.Add(pf, 8*j)), x.Less(old0))
		row.StoreMasked((*[8]int64)(unsafe.Add(pf, 8*j+64)), y.Less(old1))
		x, y = x.Min(old0), y.Min(old1)
		simd.StoreDouble16(pd, j, x)
		simd.StoreDouble16(pd, j+8, y)
		at0, at1 = here.Merge(at0, x.Less(least0)), here.Merge(at1, y.Less(least1))
		least0, least1 = least0.Min(x), least1.Min(y)
		here = here.Add(step)
	}
	var s lanes8
	s.store(least0, least1, at0, at1)
	archsimd.ClearAVXUpperBits()
	k := s.first()
	return s.least[k], int(s.at[k])
}

func through16(to, x []float64, first *[vias]float64) {
	pt, p0 := simd.At(to), simd.At(x)
	p1, p2, p3 := unsafe.Add(p0, 8*len(to)), unsafe.Add(p0, 16*len(to)), unsafe.Add(p0, 24*len(to))
	f0, f1 := simd.FillDouble16(first[0]), simd.FillDouble16(first[1])
	f2, f3 := simd.FillDouble16(first[2]), simd.FillDouble16(first[3])
	for j := 0; j < len(to); j += 8 {
		x, y := simd.LoadDouble16(p0, j).Add(f0).Min(simd.LoadDouble16(p1, j).Add(f1)),
			simd.LoadDouble16(p2, j).Add(f2).Min(simd.LoadDouble16(p3, j).Add(f3))
		simd.StoreDouble16(pt, j, x.Min(y).Min(simd.LoadDouble16(pt, j)))
	}
	archsimd.ClearAVXUpperBits()
}
