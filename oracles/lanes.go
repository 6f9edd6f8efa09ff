//go:build goexperiment.simd && amd64

package oracles

import (
	"simd/archsimd"
	"unsafe"
)

// What the kernels on 16 and on 8 lanes are written in. Kernels check no bounds: rows are readable in whole vectors.

var (
	iota16 = [16]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	iota8  = [8]int32{0, 1, 2, 3, 4, 5, 6, 7}

	zero16 archsimd.Float32x16
	zero8  archsimd.Float32x8
)

// load16 reads 16 numbers from p + 4i.
func load16(p unsafe.Pointer, i int) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(p, 4*i)))
}

func load8(p unsafe.Pointer, i int) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(p, 4*i)))
}

// store16 writes 16 numbers from p + 4i.
func store16(p unsafe.Pointer, i int, v archsimd.Float32x16) {
	v.Store((*[16]float32)(unsafe.Add(p, 4*i)))
}

func store8(p unsafe.Pointer, i int, v archsimd.Float32x8) {
	v.Store((*[8]float32)(unsafe.Add(p, 4*i)))
}

// broadcast16 reads the number at p + 4i into all lanes.
func broadcast16(p unsafe.Pointer, i int) archsimd.Float32x16 {
	return archsimd.BroadcastFloat32x16(*(*float32)(unsafe.Add(p, 4*i)))
}

func broadcast8(p unsafe.Pointer, i int) archsimd.Float32x8 {
	return archsimd.BroadcastFloat32x8(*(*float32)(unsafe.Add(p, 4*i)))
}

// first16 selects the first n lanes.
func first16(n int) archsimd.Mask32x16 {
	return archsimd.LoadInt32x16(&iota16).Less(archsimd.BroadcastInt32x16(int32(n)))
}

func first8(n int) archsimd.Mask32x8 {
	return archsimd.LoadInt32x8(&iota8).Less(archsimd.BroadcastInt32x8(int32(n)))
}

// largest16 returns the largest lane.
func largest16(v archsimd.Float32x16) float32 { return largest8(v.GetLo().Max(v.GetHi())) }

func largest8(v archsimd.Float32x8) float32 {
	w := v.GetLo().Max(v.GetHi())
	w = w.Max(w.SelectFromPair(2, 3, 0, 1, w))
	return w.Max(w.SelectFromPair(1, 0, 3, 2, w)).GetElem(0)
}

// smallest16 returns the smallest lane.
func smallest16(v archsimd.Float32x16) float32 { return smallest8(v.GetLo().Min(v.GetHi())) }

func smallest8(v archsimd.Float32x8) float32 {
	w := v.GetLo().Min(v.GetHi())
	w = w.Min(w.SelectFromPair(2, 3, 0, 1, w))
	return w.Min(w.SelectFromPair(1, 0, 3, 2, w)).GetElem(0)
}

// sum16 returns the sum of all lanes, taken in halves.
func sum16(v archsimd.Float32x16) float32 { return sum8(v.GetLo().Add(v.GetHi())) }

func sum8(v archsimd.Float32x8) float32 {
	w := v.GetLo().Add(v.GetHi())
	w = w.Add(w.SelectFromPair(2, 3, 0, 1, w))
	return w.Add(w.SelectFromPair(1, 0, 3, 2, w)).GetElem(0)
}

// Rows of float64 take two vectors for one of float32.

// widen16 converts to float64.
func widen16(v archsimd.Float32x16) (lo, hi archsimd.Float64x8) {
	return v.GetLo().ConvertToFloat64(), v.GetHi().ConvertToFloat64()
}

func widen8(v archsimd.Float32x8) (lo, hi archsimd.Float64x4) {
	return v.GetLo().ConvertToFloat64(), v.GetHi().ConvertToFloat64()
}

// narrow16 converts to float32.
func narrow16(lo, hi archsimd.Float64x8) archsimd.Float32x16 {
	return zero16.SetLo(lo.ConvertToFloat32()).SetHi(hi.ConvertToFloat32())
}

func narrow8(lo, hi archsimd.Float64x4) archsimd.Float32x8 {
	return zero8.SetLo(lo.ConvertToFloat32()).SetHi(hi.ConvertToFloat32())
}

// loadWide16 reads 16 numbers from p + 8i.
func loadWide16(p unsafe.Pointer, i int) (lo, hi archsimd.Float64x8) {
	lo = archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(p, 8*i)))
	return lo, archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(p, 8*i+64)))
}

func loadWide8(p unsafe.Pointer, i int) (lo, hi archsimd.Float64x4) {
	lo = archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(p, 8*i)))
	return lo, archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(p, 8*i+32)))
}

// broadcastWide16 returns x in half as many lanes of float64.
func broadcastWide16(x float64) archsimd.Float64x8 { return archsimd.BroadcastFloat64x8(x) }

func broadcastWide8(x float64) archsimd.Float64x4 { return archsimd.BroadcastFloat64x4(x) }

// largestWide16 returns the largest of half as many lanes of float64.
func largestWide16(v archsimd.Float64x8) float64 { return largestWide8(v.GetLo().Max(v.GetHi())) }

func largestWide8(v archsimd.Float64x4) float64 {
	w := v.GetLo().Max(v.GetHi())
	return max(w.GetElem(0), w.GetElem(1))
}
