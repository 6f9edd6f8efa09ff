//go:build goexperiment.simd && amd64

package matching

import (
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

// avx2 processes 4 float64 or 8 float32 at a time. Its kernels check no bounds.
var avx2 = &kernels{
	name:   "AVX2",
	negate: negate8, lower: lower8, leastTwo: leastTwo8, relax: relax8, through: through8,
}

// negate8 fills the end of to first, and then overwrites it, with a last vector that may overlap the one before.
func negate8(to, from []float32) {
	if len(from) < 8 {
		negate(to, from)
		return
	}
	pt, pf := simd.At(to), simd.At(from)
	fill, sign := simd.Fill8(float32(inf)), archsimd.BroadcastInt32x8(-1<<31)
	simd.Store8(pt, len(to)-16, fill)
	simd.Store8(pt, len(to)-8, fill)
	for j := 0; j < len(from); j += 8 {
		j := min(j, len(from)-8)
		simd.Store8(pt, j, simd.Load8(pf, j).AsInt32x8().Xor(sign).AsFloat32x8())
	}
	archsimd.ClearAVXUpperBits()
}

func lower8(least, row []float32, at []int32, i int32) {
	pl, pr, pa := simd.At(least), simd.At(row), simd.At(at)
	here := archsimd.BroadcastInt32x8(i)
	for j := 0; j < len(row); j += 8 {
		x, old := simd.Load8(pr, j), simd.Load8(pl, j)
		p := (*[8]int32)(unsafe.Add(pa, 4*j))
		here.Merge(archsimd.LoadInt32x8(p), x.Less(old)).Store(p)
		simd.Store8(pl, j, x.Min(old))
	}
	archsimd.ClearAVXUpperBits()
}

// lanes4 holds the results of 8 lanes.
type lanes4 struct {
	least [8]float64
	at    [8]int64
}

// first returns the least number and its place, the first one among equals.
func (s *lanes4) first() (least float64, at int64) {
	least, at = s.least[0], s.at[0]
	for k := 1; k < len(s.least); k++ {
		if x, j := s.least[k], s.at[k]; x < least || x == least && j < at {
			least, at = x, j
		}
	}
	return least, at
}

func leastTwo8(c []float32, v []float64) (float64, int, float64) {
	pc, pv := simd.At(c), simd.At(v)
	least0, step := simd.FillDouble8(inf), archsimd.BroadcastInt64x4(8)
	least1, second0, second1 := least0, least0, least0
	here := simd.IotaDouble8()
	at0, at1 := here, here
	for j := 0; j < len(c); j += 8 {
		x, y := simd.LoadWidened8(pc, j).Sub(simd.LoadDouble8(pv, j)),
			simd.LoadWidened8(pc, j+4).Sub(simd.LoadDouble8(pv, j+4))
		second0, second1 = second0.Min(least0.Max(x)), second1.Min(least1.Max(y))
		at0, at1 = here.Merge(at0, x.Less(least0)), here.Merge(at1, y.Less(least1))
		least0, least1 = least0.Min(x), least1.Min(y)
		here = here.Add(step)
	}
	var s lanes4
	simd.StoreDouble8(unsafe.Pointer(&s.least), 0, least0)
	simd.StoreDouble8(unsafe.Pointer(&s.least), 4, least1)
	at0.Store((*[4]int64)(s.at[:4]))
	at1.Add(archsimd.BroadcastInt64x4(4)).Store((*[4]int64)(s.at[4:]))
	var seconds [4]float64
	second0.Min(second1).Store(&seconds)
	archsimd.ClearAVXUpperBits()
	least, at := s.first()
	second := min(seconds[0], seconds[1], seconds[2], seconds[3])
	for k, x := range s.least {
		if s.at[k] != at {
			second = min(second, x)
		}
	}
	return least, int(at), second
}

func relax8(c []float32, v, d []float64, from []int64, base float64, i int64) (float64, int) {
	pc, pv := simd.At(c), simd.At(v)
	pd, pf := simd.At(d), simd.At(from)
	plus, row := simd.FillDouble8(base), archsimd.BroadcastInt64x4(i)
	least0, step := simd.FillDouble8(inf), archsimd.BroadcastInt64x4(8)
	least1 := least0
	here := simd.IotaDouble8()
	at0, at1 := here, here
	for j := 0; j < len(c); j += 8 {
		x, y := simd.LoadWidened8(pc, j).Sub(simd.LoadDouble8(pv, j)).Add(plus),
			simd.LoadWidened8(pc, j+4).Sub(simd.LoadDouble8(pv, j+4)).Add(plus)
		old0, old1 := simd.LoadDouble8(pd, j), simd.LoadDouble8(pd, j+4)
		row.StoreMasked((*[4]int64)(unsafe.Add(pf, 8*j)), x.Less(old0))
		row.StoreMasked((*[4]int64)(unsafe.Add(pf, 8*j+32)), y.Less(old1))
		x, y = x.Min(old0), y.Min(old1)
		simd.StoreDouble8(pd, j, x)
		simd.StoreDouble8(pd, j+4, y)
		at0, at1 = here.Merge(at0, x.Less(least0)), here.Merge(at1, y.Less(least1))
		least0, least1 = least0.Min(x), least1.Min(y)
		here = here.Add(step)
	}
	var s lanes4
	simd.StoreDouble8(unsafe.Pointer(&s.least), 0, least0)
	simd.StoreDouble8(unsafe.Pointer(&s.least), 4, least1)
	at0.Store((*[4]int64)(s.at[:4]))
	at1.Add(archsimd.BroadcastInt64x4(4)).Store((*[4]int64)(s.at[4:]))
	archsimd.ClearAVXUpperBits()
	least, at := s.first()
	return least, int(at)
}

func through8(to, x []float64, first *[vias]float64) {
	pt, p0 := simd.At(to), simd.At(x)
	p1, p2, p3 := unsafe.Add(p0, 8*len(to)), unsafe.Add(p0, 16*len(to)), unsafe.Add(p0, 24*len(to))
	f0, f1 := simd.FillDouble8(first[0]), simd.FillDouble8(first[1])
	f2, f3 := simd.FillDouble8(first[2]), simd.FillDouble8(first[3])
	for j := 0; j < len(to); j += 4 {
		x, y := simd.LoadDouble8(p0, j).Add(f0).Min(simd.LoadDouble8(p1, j).Add(f1)),
			simd.LoadDouble8(p2, j).Add(f2).Min(simd.LoadDouble8(p3, j).Add(f3))
		simd.StoreDouble8(pt, j, x.Min(y).Min(simd.LoadDouble8(pt, j)))
	}
	archsimd.ClearAVXUpperBits()
}
