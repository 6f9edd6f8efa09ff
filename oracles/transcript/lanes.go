//go:build goexperiment.simd && amd64

package transcript

import (
	"simd/archsimd"
	"unsafe"
)

// The primitives of the kernels, named after the number of float32 in a vector. Kernels check no bounds: rows are whole vectors.

type (
	double16 = archsimd.Float64x8
	double8  = archsimd.Float64x4
)

// Numbers per vector.
const (
	lanes16 = 16
	lanes8  = 8
	half16  = 8
	half8   = 4
)

// load16 loads a vector from p + 8i.
func load16(p unsafe.Pointer, i int) double16 {
	return archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(p, 8*i)))
}

func load8(p unsafe.Pointer, i int) double8 {
	return archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(p, 8*i)))
}

// store16 stores a vector at p + 8i.
func store16(p unsafe.Pointer, i int, v double16) { v.Store((*[8]float64)(unsafe.Add(p, 8*i))) }

func store8(p unsafe.Pointer, i int, v double8) { v.Store((*[4]float64)(unsafe.Add(p, 8*i))) }

func fill16(x float64) double16 { return archsimd.BroadcastFloat64x8(x) }

func fill8(x float64) double8 { return archsimd.BroadcastFloat64x4(x) }

// power16 returns p·2ⁿ for n in the low bits of shifted.
func power16(p, shifted double16) double16 {
	return p.AsInt64x8().Add(shifted.AsInt64x8().ShiftAllLeft(52)).AsFloat64x8()
}

func power8(p, shifted double8) double8 {
	return p.AsInt64x4().Add(shifted.AsInt64x4().ShiftAllLeft(52)).AsFloat64x4()
}

// largest16 returns the largest lane.
func largest16(v double16) float64 { return largest8(v.GetLo().Max(v.GetHi())) }

func largest8(v double8) float64 {
	w := v.GetLo().Max(v.GetHi())
	return w.Max(w.SelectFromPair(1, 0, w)).GetElem(0)
}

func loadSingle16(p unsafe.Pointer, i int) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(p, 4*i)))
}

func loadSingle8(p unsafe.Pointer, i int) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(p, 4*i)))
}

func storeSingle16(p unsafe.Pointer, i int, v archsimd.Float32x16) {
	v.Store((*[16]float32)(unsafe.Add(p, 4*i)))
}

func storeSingle8(p unsafe.Pointer, i int, v archsimd.Float32x8) {
	v.Store((*[8]float32)(unsafe.Add(p, 4*i)))
}

func fillSingle16(x float32) archsimd.Float32x16 { return archsimd.BroadcastFloat32x16(x) }

func fillSingle8(x float32) archsimd.Float32x8 { return archsimd.BroadcastFloat32x8(x) }

func largestSingle16(v archsimd.Float32x16) float32 {
	return largestSingle8(v.GetLo().Max(v.GetHi()))
}

func largestSingle8(v archsimd.Float32x8) float32 {
	w := v.GetLo().Max(v.GetHi())
	w = w.Max(w.SelectFromPair(2, 3, 0, 1, w))
	return w.Max(w.SelectFromPair(1, 0, 3, 2, w)).GetElem(0)
}

// at returns the address of a row.
func at(x []float64) unsafe.Pointer { return unsafe.Pointer(&x[0]) }
