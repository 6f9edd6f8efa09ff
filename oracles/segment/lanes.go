//go:build goexperiment.simd && amd64

package segment

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
	half16 = 8
	half8  = 4
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

// fill16 returns x in all lanes.
func fill16(x float64) double16 { return archsimd.BroadcastFloat64x8(x) }

func fill8(x float64) double8 { return archsimd.BroadcastFloat64x4(x) }

// broadcast16 loads the number at p + 8i into all lanes.
func broadcast16(p unsafe.Pointer, i int) double16 {
	return archsimd.BroadcastFloat64x8(*(*float64)(unsafe.Add(p, 8*i)))
}

func broadcast8(p unsafe.Pointer, i int) double8 {
	return archsimd.BroadcastFloat64x4(*(*float64)(unsafe.Add(p, 8*i)))
}

// sum16 returns the sum of all lanes, added pairwise by halves.
func sum16(v double16) float64 { return sum8(v.GetLo().Add(v.GetHi())) }

func sum8(v double8) float64 {
	w := v.GetLo().Add(v.GetHi())
	return w.Add(w.SelectFromPair(1, 0, w)).GetElem(0)
}
