//go:build goexperiment.simd && amd64

package pcfg

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

func fill16(x float64) double16 { return archsimd.BroadcastFloat64x8(x) }

func fill8(x float64) double8 { return archsimd.BroadcastFloat64x4(x) }

// total16 returns the sum of all lanes.
func total16(v double16) float64 { return total8(v.GetLo().Add(v.GetHi())) }

func total8(v double8) float64 {
	w := v.GetLo().Add(v.GetHi())
	return w.Add(w.SelectFromPair(1, 0, w)).GetElem(0)
}

// at returns the address of a row.
func at(x []float64) unsafe.Pointer { return unsafe.Pointer(&x[0]) }
