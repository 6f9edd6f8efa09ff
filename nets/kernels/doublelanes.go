//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"
	"unsafe"
)

// Vectors of float64 have half as many lanes.
const (
	doubles16 = 8
	doubles8  = 4
)

var iotaDoubles = [8]int64{0, 1, 2, 3, 4, 5, 6, 7}

// firstDoubles16 selects the first n lanes.
func firstDoubles16(n int) archsimd.Mask64x8 {
	return archsimd.LoadInt64x8(&iotaDoubles).Less(archsimd.BroadcastInt64x8(int64(n)))
}

func firstDoubles8(n int) archsimd.Mask64x4 {
	return archsimd.LoadInt64x4((*[4]int64)(iotaDoubles[:4])).Less(archsimd.BroadcastInt64x4(int64(n)))
}

// loadDoubles16 reads 8 numbers from p + 8i.
func loadDoubles16(p unsafe.Pointer, i int) archsimd.Float64x8 {
	return archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(p, 8*i)))
}

func loadDoubles8(p unsafe.Pointer, i int) archsimd.Float64x4 {
	return archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(p, 8*i)))
}

// loadFirstDoubles16 reads the lanes of mask from p + 8i, touches no other memory and sets the other lanes to zero.
//
//go:nocheckptr
func loadFirstDoubles16(p unsafe.Pointer, i int, mask archsimd.Mask64x8) archsimd.Float64x8 {
	return archsimd.LoadMaskedFloat64x8((*[8]float64)(unsafe.Add(p, 8*i)), mask)
}

//go:nocheckptr
func loadFirstDoubles8(p unsafe.Pointer, i int, mask archsimd.Mask64x4) archsimd.Float64x4 {
	return archsimd.LoadMaskedFloat64x4((*[4]float64)(unsafe.Add(p, 8*i)), mask)
}

// widen16 reads 8 numbers of float32 from p + 4i.
func widen16(p unsafe.Pointer, i int) archsimd.Float64x8 {
	return archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(p, 4*i))).ConvertToFloat64()
}

func widen8(p unsafe.Pointer, i int) archsimd.Float64x4 {
	return archsimd.LoadFloat32x4((*[4]float32)(unsafe.Add(p, 4*i))).ConvertToFloat64()
}

// spreadDouble16 repeats the number of float32 at p + 4i in all lanes. It converts a vector: a conversion of a scalar between vectors makes some
// processors wait.
func spreadDouble16(p unsafe.Pointer, i int) archsimd.Float64x8 {
	return archsimd.BroadcastFloat32x8(*(*float32)(unsafe.Add(p, 4*i))).ConvertToFloat64()
}

func spreadDouble8(p unsafe.Pointer, i int) archsimd.Float64x4 {
	return archsimd.BroadcastFloat32x4(*(*float32)(unsafe.Add(p, 4*i))).ConvertToFloat64()
}

// narrow16 selects the first n numbers for widenFirst16.
func narrow16(n int) archsimd.Mask32x8 {
	return archsimd.LoadInt32x8(&iota8).Less(archsimd.BroadcastInt32x8(int32(n)))
}

func narrow8(n int) archsimd.Mask32x4 {
	return archsimd.LoadInt32x4((*[4]int32)(iota8[:4])).Less(archsimd.BroadcastInt32x4(int32(n)))
}

// widenFirst16 is widen16 of the numbers of mask. It touches no other memory and sets the other lanes to zero.
//
//go:nocheckptr
func widenFirst16(p unsafe.Pointer, i int, mask archsimd.Mask32x8) archsimd.Float64x8 {
	return archsimd.LoadMaskedFloat32x8((*[8]float32)(unsafe.Add(p, 4*i)), mask).ConvertToFloat64()
}

//go:nocheckptr
func widenFirst8(p unsafe.Pointer, i int, mask archsimd.Mask32x4) archsimd.Float64x4 {
	return archsimd.LoadMaskedFloat32x4((*[4]float32)(unsafe.Add(p, 4*i)), mask).ConvertToFloat64()
}

// storeDoubles16 writes 8 numbers from p + 8i.
func storeDoubles16(p unsafe.Pointer, i int, v archsimd.Float64x8) {
	v.Store((*[8]float64)(unsafe.Add(p, 8*i)))
}

func storeDoubles8(p unsafe.Pointer, i int, v archsimd.Float64x4) {
	v.Store((*[4]float64)(unsafe.Add(p, 8*i)))
}

// storeFirstDoubles16 writes the lanes of mask from p + 8i on, and no others.
//
//go:nocheckptr
func storeFirstDoubles16(p unsafe.Pointer, i int, v archsimd.Float64x8, mask archsimd.Mask64x8) {
	v.StoreMasked((*[8]float64)(unsafe.Add(p, 8*i)), mask)
}

//go:nocheckptr
func storeFirstDoubles8(p unsafe.Pointer, i int, v archsimd.Float64x4, mask archsimd.Mask64x4) {
	v.StoreMasked((*[4]float64)(unsafe.Add(p, 8*i)), mask)
}
