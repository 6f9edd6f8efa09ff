//go:build goexperiment.simd && amd64

package kernels

import (
	"fmt"
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/instructions"
)

// Vector operations of the sparse loops with 16 and with 8 lanes. The loops check that rows lie within w and nothing else.

// AvailableSparse returns the loops that this processor can run, the fastest first.
func AvailableSparse() []*SparseLoops {
	var all []*SparseLoops
	if instructions.AVX512() {
		all = append(all, &avx512Sparse)
	}
	if instructions.AVX2() {
		all = append(all, &avx2Sparse)
	}
	return append(all, &plainSparse)
}

// Lanes of a vector.
const (
	lanes16 = 16
	lanes8  = 8
)

var (
	iota16 = [16]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	iota8  = [8]int32{0, 1, 2, 3, 4, 5, 6, 7}
)

// first16 selects the first n lanes.
func first16(n int) archsimd.Mask32x16 {
	return archsimd.LoadInt32x16(&iota16).Less(archsimd.BroadcastInt32x16(int32(n)))
}

func first8(n int) archsimd.Mask32x8 {
	return archsimd.LoadInt32x8(&iota8).Less(archsimd.BroadcastInt32x8(int32(n)))
}

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

// Halves of vectors with 16 and with 8 lanes.
const (
	halfLanes16 = 8
	halfLanes8  = 4
)

func loadHalf16(p unsafe.Pointer, i int) archsimd.Float32x8 { return load8(p, i) }

func storeHalf16(p unsafe.Pointer, i int, v archsimd.Float32x8) { store8(p, i, v) }

func broadcastHalf16(x float32) archsimd.Float32x8 { return archsimd.BroadcastFloat32x8(x) }

func loadHalf8(p unsafe.Pointer, i int) archsimd.Float32x4 {
	return archsimd.LoadFloat32x4((*[4]float32)(unsafe.Add(p, 4*i)))
}

func storeHalf8(p unsafe.Pointer, i int, v archsimd.Float32x4) {
	v.Store((*[4]float32)(unsafe.Add(p, 4*i)))
}

func broadcastHalf8(x float32) archsimd.Float32x4 { return archsimd.BroadcastFloat32x4(x) }

// loadFirst16 reads the lanes of mask from p + 4i and sets the others to zero. It does not touch memory outside of mask, though the
// pointer's type suggests so to checkptr.
//
//go:nocheckptr
func loadFirst16(p unsafe.Pointer, i int, mask archsimd.Mask32x16) archsimd.Float32x16 {
	return archsimd.LoadMaskedFloat32x16((*[16]float32)(unsafe.Add(p, 4*i)), mask)
}

//go:nocheckptr
func loadFirst8(p unsafe.Pointer, i int, mask archsimd.Mask32x8) archsimd.Float32x8 {
	return archsimd.LoadMaskedFloat32x8((*[8]float32)(unsafe.Add(p, 4*i)), mask)
}

// storeFirst16 writes the lanes of mask from p + 4i on, and no others.
//
//go:nocheckptr
func storeFirst16(p unsafe.Pointer, i int, v archsimd.Float32x16, mask archsimd.Mask32x16) {
	v.StoreMasked((*[16]float32)(unsafe.Add(p, 4*i)), mask)
}

//go:nocheckptr
func storeFirst8(p unsafe.Pointer, i int, v archsimd.Float32x8, mask archsimd.Mask32x8) {
	v.StoreMasked((*[8]float32)(unsafe.Add(p, 4*i)), mask)
}

// addUp16 returns the sum of all lanes in float64. It clears the upper halves of the registers before the scalar addition.
func addUp16(v archsimd.Float32x16) float64 {
	s := v.GetLo().ConvertToFloat64().Add(v.GetHi().ConvertToFloat64())
	return addUp4(s.GetLo().Add(s.GetHi()))
}

func addUp8(v archsimd.Float32x8) float64 {
	return addUp4(v.GetLo().ConvertToFloat64().Add(v.GetHi().ConvertToFloat64()))
}

func addUp4(v archsimd.Float64x4) float64 {
	var s [2]float64
	v.GetLo().Add(v.GetHi()).Store(&s)
	archsimd.ClearAVXUpperBits()
	return s[0] + s[1]
}

func outOfRange(row int32) { panic(fmt.Sprintf("attribute %d is beyond the weights", row)) }
