//go:build goexperiment.simd && amd64

package simd

import (
	"simd/archsimd"
	"unsafe"
)

// Sums and extrema over the lanes of a vector go by halves, pairwise. Those that stay in a vector, or pass through an
// integer register, avoid moves of a scalar between vectors: the compiler knows only SSE instructions for them, which
// make some processors wait.

// Largest16 returns the largest lane.
func Largest16(v archsimd.Float32x16) float32 { return Largest8(v.GetLo().Max(v.GetHi())) }

// Largest8 returns the largest lane.
func Largest8(v archsimd.Float32x8) float32 { return LargestInEach8(v).GetElem(0) }

// Largests16 returns the largest lane in all lanes.
func Largests16(v archsimd.Float32x16) archsimd.Float32x16 {
	return LargestInEach8(v.GetLo().Max(v.GetHi())).Broadcast1To16()
}

// Largests8 returns the largest lane in all lanes.
func Largests8(v archsimd.Float32x8) archsimd.Float32x8 { return LargestInEach8(v).Broadcast1To8() }

// LargestInEach8 returns the largest lane in each of four.
func LargestInEach8(v archsimd.Float32x8) archsimd.Float32x4 {
	w := v.GetLo().Max(v.GetHi())
	w = w.Max(w.SelectFromPair(2, 3, 0, 1, w))
	return w.Max(w.SelectFromPair(1, 0, 3, 2, w))
}

// LargestDouble16 returns the largest lane.
func LargestDouble16(v archsimd.Float64x8) float64 { return LargestDouble8(v.GetLo().Max(v.GetHi())) }

// LargestDouble8 returns the largest lane.
func LargestDouble8(v archsimd.Float64x4) float64 { return LargestInEachDouble8(v).GetElem(0) }

// LargestsDouble16 returns the largest lane in all lanes.
func LargestsDouble16(v archsimd.Float64x8) archsimd.Float64x8 {
	return LargestInEachDouble8(v.GetLo().Max(v.GetHi())).Broadcast1To8()
}

// LargestsDouble8 returns the largest lane in all lanes.
func LargestsDouble8(v archsimd.Float64x4) archsimd.Float64x4 {
	return LargestInEachDouble8(v).Broadcast1To4()
}

// LargestInEachDouble16 returns the largest lane in each of two.
func LargestInEachDouble16(v archsimd.Float64x8) archsimd.Float64x2 {
	return LargestInEachDouble8(v.GetLo().Max(v.GetHi()))
}

// LargestInEachDouble8 returns the largest lane in each of two.
func LargestInEachDouble8(v archsimd.Float64x4) archsimd.Float64x2 {
	w := v.GetLo().Max(v.GetHi())
	return w.Max(w.SelectFromPair(1, 0, w))
}

// Smallest16 returns the smallest lane.
func Smallest16(v archsimd.Float32x16) float32 { return Smallest8(v.GetLo().Min(v.GetHi())) }

// Smallest8 returns the smallest lane.
func Smallest8(v archsimd.Float32x8) float32 {
	w := v.GetLo().Min(v.GetHi())
	w = w.Min(w.SelectFromPair(2, 3, 0, 1, w))
	return w.Min(w.SelectFromPair(1, 0, 3, 2, w)).GetElem(0)
}

// SmallestDouble16 returns the smallest lane.
func SmallestDouble16(v archsimd.Float64x8) float64 {
	return SmallestDouble8(v.GetLo().Min(v.GetHi()))
}

// SmallestDouble8 returns the smallest lane.
func SmallestDouble8(v archsimd.Float64x4) float64 {
	w := v.GetLo().Min(v.GetHi())
	return w.Min(w.SelectFromPair(1, 0, w)).GetElem(0)
}

// Sum16 returns the sum of all lanes.
func Sum16(v archsimd.Float32x16) float32 { return Sum8(v.GetLo().Add(v.GetHi())) }

// Sum8 returns the sum of all lanes.
func Sum8(v archsimd.Float32x8) float32 { return SumInEach8(v).GetElem(0) }

// StoreSum16 stores the sum of all lanes at p + 4i.
func StoreSum16(p unsafe.Pointer, i int, v archsimd.Float32x16) {
	StoreSum8(p, i, v.GetLo().Add(v.GetHi()))
}

// StoreSum8 stores the sum of all lanes at p + 4i.
func StoreSum8(p unsafe.Pointer, i int, v archsimd.Float32x8) {
	*(*uint32)(unsafe.Add(p, 4*i)) = SumInEach8(v).AsUint32x4().GetElem(0)
}

// SumInEach16 returns the sum of all lanes in each of four.
func SumInEach16(v archsimd.Float32x16) archsimd.Float32x4 {
	return SumInEach8(v.GetLo().Add(v.GetHi()))
}

// SumInEach8 returns the sum of all lanes in each of four.
func SumInEach8(v archsimd.Float32x8) archsimd.Float32x4 {
	w := v.GetLo().Add(v.GetHi())
	w = w.Add(w.SelectFromPair(2, 3, 0, 1, w))
	return w.Add(w.SelectFromPair(1, 0, 3, 2, w))
}

// OverSum16 returns 1/Σ_j v_j in all lanes, and the sum. It divides vectors: a scalar instruction between vector
// instructions whose registers' upper halves are in use costs more than the rest of a step.
func OverSum16(v archsimd.Float32x16) (archsimd.Float32x16, archsimd.Float32x4) {
	sum := SumInEach16(v)
	return Load16(unsafe.Pointer(&ones), 0).Div(sum.Broadcast1To16()), sum
}

// OverSum8 is OverSum16 for AVX2.
func OverSum8(v archsimd.Float32x8) (archsimd.Float32x8, archsimd.Float32x4) {
	sum := SumInEach8(v)
	return Load8(unsafe.Pointer(&ones), 0).Div(sum.Broadcast1To8()), sum
}

// StoreSumDouble16 stores the sum of all lanes at p + 8i.
func StoreSumDouble16(p unsafe.Pointer, i int, v archsimd.Float64x8) {
	StoreSumDouble8(p, i, v.GetLo().Add(v.GetHi()))
}

// StoreSumDouble8 stores the sum of all lanes at p + 8i.
func StoreSumDouble8(p unsafe.Pointer, i int, v archsimd.Float64x4) {
	*(*uint64)(unsafe.Add(p, 8*i)) = SumInEachDouble8(v).AsUint64x2().GetElem(0)
}

// AddSumDouble16 adds the sum of all lanes to the number at p + 8i.
func AddSumDouble16(p unsafe.Pointer, i int, v archsimd.Float64x8) {
	AddSumDouble8(p, i, v.GetLo().Add(v.GetHi()))
}

// AddSumDouble8 adds the sum of all lanes to the number at p + 8i.
func AddSumDouble8(p unsafe.Pointer, i int, v archsimd.Float64x4) {
	to := unsafe.Add(p, 8*i)
	sum := archsimd.BroadcastFloat64x2(*(*float64)(to)).Add(SumInEachDouble8(v))
	*(*uint64)(to) = sum.AsUint64x2().GetElem(0)
}

// SumsDouble16 returns the sum of all lanes in all lanes.
func SumsDouble16(v archsimd.Float64x8) archsimd.Float64x8 {
	return SumInEachDouble16(v).Broadcast1To8()
}

// SumsDouble8 returns the sum of all lanes in all lanes.
func SumsDouble8(v archsimd.Float64x4) archsimd.Float64x4 { return SumInEachDouble8(v).Broadcast1To4() }

// SumInEachDouble16 returns the sum of all lanes in each of two.
func SumInEachDouble16(v archsimd.Float64x8) archsimd.Float64x2 {
	return SumInEachDouble8(v.GetLo().Add(v.GetHi()))
}

// SumInEachDouble8 returns the sum of all lanes in each of two.
func SumInEachDouble8(v archsimd.Float64x4) archsimd.Float64x2 {
	w := v.GetLo().Add(v.GetHi())
	return w.Add(w.SelectFromPair(1, 0, w))
}

// OverSumDouble16 is OverSum16 for float64.
func OverSumDouble16(v archsimd.Float64x8) (archsimd.Float64x8, archsimd.Float64x2) {
	sum := SumInEachDouble16(v)
	return LoadDouble16(unsafe.Pointer(&onesDouble), 0).Div(sum.Broadcast1To8()), sum
}

// OverSumDouble8 is OverSum8 for float64.
func OverSumDouble8(v archsimd.Float64x4) (archsimd.Float64x4, archsimd.Float64x2) {
	sum := SumInEachDouble8(v)
	return LoadDouble8(unsafe.Pointer(&onesDouble), 0).Div(sum.Broadcast1To4()), sum
}

// WideSum16 returns the sum of all lanes in float64. It clears the upper halves of the registers before the last
// addition, which is one of scalars.
func WideSum16(v archsimd.Float32x16) float64 {
	lo, hi := Widen16(v)
	s := lo.Add(hi)
	return wideSum(s.GetLo().Add(s.GetHi()))
}

// WideSum8 is WideSum16 for AVX2.
func WideSum8(v archsimd.Float32x8) float64 {
	lo, hi := Widen8(v)
	return wideSum(lo.Add(hi))
}

func wideSum(v archsimd.Float64x4) float64 {
	var s [2]float64
	v.GetLo().Add(v.GetHi()).Store(&s)
	archsimd.ClearAVXUpperBits()
	return s[0] + s[1]
}

// SumsOfFour16 sets to to the sums of the lanes of four vectors.
func SumsOfFour16(to *[4]float64, a, b, c, d archsimd.Float64x8) {
	SumsOfFour8(to, a.GetLo().Add(a.GetHi()), b.GetLo().Add(b.GetHi()), c.GetLo().Add(c.GetHi()), d.GetLo().Add(d.GetHi()))
}

// SumsOfFour8 sets to to the sums of the lanes of four vectors.
func SumsOfFour8(to *[4]float64, a, b, c, d archsimd.Float64x4) {
	var s [16]float64
	a.Store((*[4]float64)(s[0:]))
	b.Store((*[4]float64)(s[4:]))
	c.Store((*[4]float64)(s[8:]))
	d.Store((*[4]float64)(s[12:]))
	for i := range to {
		to[i] = (s[4*i] + s[4*i+1]) + (s[4*i+2] + s[4*i+3])
	}
}

// HeadDouble16 returns the first lane.
func HeadDouble16(v archsimd.Float64x8) float64 { return v.GetLo().GetLo().GetElem(0) }

// HeadDouble8 returns the first lane.
func HeadDouble8(v archsimd.Float64x4) float64 { return v.GetLo().GetElem(0) }
