//go:build goexperiment.simd && amd64

package matching

import (
	"simd/archsimd"
	"unsafe"
)

// avx512 processes 8 float64 or 16 float32 at a time. Its kernels check no bounds.
var avx512 = kernels{
	name:   "AVX-512",
	negate: negate8, lower: lower8, leastTwo: leastTwo16, relax: relax16, through: through16,
}

type f64x8 = archsimd.Float64x8

func wide(p unsafe.Pointer, j int) f64x8 {
	return archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(p, 4*j))).ConvertToFloat64()
}

func load16(p unsafe.Pointer, j int) f64x8 {
	return archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(p, 8*j)))
}

func store16(p unsafe.Pointer, j int, x f64x8) { x.Store((*[8]float64)(unsafe.Add(p, 8*j))) }

var count8 = [8]int64{0, 1, 2, 3, 4, 5, 6, 7}

// leastTwo16 keeps two vectors of each result, for the even and the odd vectors of the row.
func leastTwo16(c []float32, v []float64) (float64, int, float64) {
	pc, pv := unsafe.Pointer(unsafe.SliceData(c)), unsafe.Pointer(unsafe.SliceData(v))
	least0, step := archsimd.BroadcastFloat64x8(inf), archsimd.BroadcastInt64x8(lanes)
	least1, second0, second1 := least0, least0, least0
	here := archsimd.LoadInt64x8(&count8)
	at0, at1 := here, here
	for j := 0; j < len(c); j += lanes {
		x, y := wide(pc, j).Sub(load16(pv, j)), wide(pc, j+8).Sub(load16(pv, j+8))
		second0, second1 = second0.Min(least0.Max(x)), second1.Min(least1.Max(y))
		at0, at1 = here.Merge(at0, x.Less(least0)), here.Merge(at1, y.Less(least1))
		least0, least1 = least0.Min(x), least1.Min(y)
		here = here.Add(step)
	}
	var s lanes16
	store16(unsafe.Pointer(&s.least), 0, least0)
	store16(unsafe.Pointer(&s.least), 8, least1)
	at0.Store((*[8]int64)(s.at[:8]))
	at1.Add(archsimd.BroadcastInt64x8(8)).Store((*[8]int64)(s.at[8:]))
	var seconds [8]float64
	second0.Min(second1).Store(&seconds)
	archsimd.ClearAVXUpperBits()
	least, at := s.first()
	second := inf
	for _, x := range seconds {
		second = min(second, x)
	}
	for k, x := range s.least {
		if s.at[k] != at {
			second = min(second, x)
		}
	}
	return least, int(at), second
}

// lanes16 holds the results of lanes.
type lanes16 struct {
	least [lanes]float64
	at    [lanes]int64
}

// first returns the least number and its place, the first one among equals.
func (s *lanes16) first() (least float64, at int64) {
	least, at = s.least[0], s.at[0]
	for k := 1; k < lanes; k++ {
		if x, j := s.least[k], s.at[k]; x < least || x == least && j < at {
			least, at = x, j
		}
	}
	return least, at
}

func relax16(c []float32, v, d []float64, from []int64, base float64, i int64) (float64, int) {
	pc, pv := unsafe.Pointer(unsafe.SliceData(c)), unsafe.Pointer(unsafe.SliceData(v))
	pd, pf := unsafe.Pointer(unsafe.SliceData(d)), unsafe.Pointer(unsafe.SliceData(from))
	plus, row := archsimd.BroadcastFloat64x8(base), archsimd.BroadcastInt64x8(i)
	least0, step := archsimd.BroadcastFloat64x8(inf), archsimd.BroadcastInt64x8(lanes)
	least1 := least0
	here := archsimd.LoadInt64x8(&count8)
	at0, at1 := here, here
	for j := 0; j < len(c); j += lanes {
		x, y := wide(pc, j).Sub(load16(pv, j)).Add(plus), wide(pc, j+8).Sub(load16(pv, j+8)).Add(plus)
		old0, old1 := load16(pd, j), load16(pd, j+8)
		row.StoreMasked((*[8]int64)(unsafe.Add(pf, 8*j)), x.Less(old0))
		row.StoreMasked((*[8]int64)(unsafe.Add(pf, 8*j+64)), y.Less(old1))
		x, y = x.Min(old0), y.Min(old1)
		store16(pd, j, x)
		store16(pd, j+8, y)
		at0, at1 = here.Merge(at0, x.Less(least0)), here.Merge(at1, y.Less(least1))
		least0, least1 = least0.Min(x), least1.Min(y)
		here = here.Add(step)
	}
	var s lanes16
	store16(unsafe.Pointer(&s.least), 0, least0)
	store16(unsafe.Pointer(&s.least), 8, least1)
	at0.Store((*[8]int64)(s.at[:8]))
	at1.Add(archsimd.BroadcastInt64x8(8)).Store((*[8]int64)(s.at[8:]))
	archsimd.ClearAVXUpperBits()
	least, at := s.first()
	return least, int(at)
}

func through16(to, x []float64, first float64) {
	pt, px, plus := unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(x)), archsimd.BroadcastFloat64x8(first)
	for j := 0; j < len(to); j += 8 {
		store16(pt, j, load16(px, j).Add(plus).Min(load16(pt, j)))
	}
	archsimd.ClearAVXUpperBits()
}
