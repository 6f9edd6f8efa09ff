//go:build goexperiment.simd && amd64

package tree

import (
	"simd/archsimd"
	"unsafe"
)

// The primitives of the kernels of sentences abreast, named after the number of float32 in a vector: a vector has a number of each sentence. Kernels check no
// bounds.

type (
	double16 = archsimd.Float64x8
	double8  = archsimd.Float64x4
)

// Numbers per vector.
const (
	half16 = 8
	half8  = 4
)

// get16 loads vector i of those at p.
func get16(p unsafe.Pointer, i int) double16 {
	return archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(p, 64*i)))
}

func get8(p unsafe.Pointer, i int) double8 {
	return archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(p, 32*i)))
}

// put16 stores vector i of those at p.
func put16(p unsafe.Pointer, i int, v double16) { v.Store((*[8]float64)(unsafe.Add(p, 64*i))) }

func put8(p unsafe.Pointer, i int, v double8) { v.Store((*[4]float64)(unsafe.Add(p, 32*i))) }

func fillDouble16(x float64) double16 { return archsimd.BroadcastFloat64x8(x) }

func fillDouble8(x float64) double8 { return archsimd.BroadcastFloat64x4(x) }

func at(x []float64) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }
