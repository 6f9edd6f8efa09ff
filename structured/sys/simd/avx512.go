//go:build goexperiment.simd && amd64

package simd

import (
	"simd/archsimd"
	"unsafe"
)

// Load16 loads a vector from p + 4i.
func Load16(p unsafe.Pointer, i int) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16((*[Singles16]float32)(unsafe.Add(p, 4*i)))
}

// LoadDouble16 loads a vector from p + 8i.
func LoadDouble16(p unsafe.Pointer, i int) archsimd.Float64x8 {
	return archsimd.LoadFloat64x8((*[Doubles16]float64)(unsafe.Add(p, 8*i)))
}

// Store16 stores v at p + 4i.
func Store16(p unsafe.Pointer, i int, v archsimd.Float32x16) {
	v.Store((*[Singles16]float32)(unsafe.Add(p, 4*i)))
}

// StoreDouble16 stores v at p + 8i.
func StoreDouble16(p unsafe.Pointer, i int, v archsimd.Float64x8) {
	v.Store((*[Doubles16]float64)(unsafe.Add(p, 8*i)))
}

// Get16 loads a vector from x[i:].
func Get16(x []float32, i int) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16((*[Singles16]float32)(x[i:]))
}

// Put16 stores v in x[i:].
func Put16(x []float32, i int, v archsimd.Float32x16) { v.Store((*[Singles16]float32)(x[i:])) }

// Fill16 returns x in all lanes.
func Fill16(x float32) archsimd.Float32x16 { return archsimd.BroadcastFloat32x16(x) }

// FillDouble16 returns x in all lanes.
func FillDouble16(x float64) archsimd.Float64x8 { return archsimd.BroadcastFloat64x8(x) }

// Broadcast16 loads the number at p + 4i into all lanes.
func Broadcast16(p unsafe.Pointer, i int) archsimd.Float32x16 {
	return archsimd.BroadcastFloat32x16(*(*float32)(unsafe.Add(p, 4*i)))
}

// BroadcastDouble16 loads the number at p + 8i into all lanes.
func BroadcastDouble16(p unsafe.Pointer, i int) archsimd.Float64x8 {
	return archsimd.BroadcastFloat64x8(*(*float64)(unsafe.Add(p, 8*i)))
}

// First16 selects the first n lanes.
func First16(n int) archsimd.Mask32x16 {
	return archsimd.LoadInt32x16(&iota16).Less(archsimd.BroadcastInt32x16(int32(n)))
}

// FirstDouble16 selects the first n lanes.
func FirstDouble16(n int) archsimd.Mask64x8 {
	return archsimd.LoadInt64x8(&iotaDouble16).Less(archsimd.BroadcastInt64x8(int64(n)))
}

// Lane16 selects lane i.
func Lane16(i int) archsimd.Mask32x16 {
	return archsimd.LoadInt32x16(&iota16).Equal(archsimd.BroadcastInt32x16(int32(i)))
}

// IotaDouble16 returns 0, 1, 2, …
func IotaDouble16() archsimd.Int64x8 { return archsimd.LoadInt64x8(&iotaDouble16) }

// LoadFirst16 loads the lanes of mask from p + 4i and sets the others to zero. It touches no memory outside of mask,
// though the pointer's type suggests so to checkptr.
//
//go:nocheckptr
func LoadFirst16(p unsafe.Pointer, i int, mask archsimd.Mask32x16) archsimd.Float32x16 {
	return archsimd.LoadMaskedFloat32x16((*[Singles16]float32)(unsafe.Add(p, 4*i)), mask)
}

// LoadFirstDouble16 loads the lanes of mask from p + 8i: see LoadFirst16.
//
//go:nocheckptr
func LoadFirstDouble16(p unsafe.Pointer, i int, mask archsimd.Mask64x8) archsimd.Float64x8 {
	return archsimd.LoadMaskedFloat64x8((*[Doubles16]float64)(unsafe.Add(p, 8*i)), mask)
}

// StoreFirst16 stores the lanes of mask at p + 4i, and no others.
//
//go:nocheckptr
func StoreFirst16(p unsafe.Pointer, i int, v archsimd.Float32x16, mask archsimd.Mask32x16) {
	v.StoreMasked((*[Singles16]float32)(unsafe.Add(p, 4*i)), mask)
}

// StoreFirstDouble16 stores the lanes of mask at p + 8i, and no others.
//
//go:nocheckptr
func StoreFirstDouble16(p unsafe.Pointer, i int, v archsimd.Float64x8, mask archsimd.Mask64x8) {
	v.StoreMasked((*[Doubles16]float64)(unsafe.Add(p, 8*i)), mask)
}

// AddToDouble16 adds v to the vector at p + 8i.
func AddToDouble16(p unsafe.Pointer, i int, v archsimd.Float64x8) {
	StoreDouble16(p, i, LoadDouble16(p, i).Add(v))
}

// LdexpDouble16 returns x·2ⁿ, where n is in the low bits of shifted: n + 1.5·2⁵², for example.
func LdexpDouble16(x, shifted archsimd.Float64x8) archsimd.Float64x8 {
	return x.AsInt64x8().Add(shifted.AsInt64x8().ShiftAllLeft(52)).AsFloat64x8()
}

// StoreNarrowedPart16 stores as much of v, as float32, as x holds.
func StoreNarrowedPart16(x []float32, v archsimd.Float64x8) { v.ConvertToFloat32().StoreSlicePart(x) }

// Widen16 converts to float64.
func Widen16(v archsimd.Float32x16) (lo, hi archsimd.Float64x8) {
	return v.GetLo().ConvertToFloat64(), v.GetHi().ConvertToFloat64()
}

// Narrow16 converts to float32.
func Narrow16(lo, hi archsimd.Float64x8) archsimd.Float32x16 {
	var v archsimd.Float32x16
	return v.SetLo(lo.ConvertToFloat32()).SetHi(hi.ConvertToFloat32())
}
