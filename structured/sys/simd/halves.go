//go:build goexperiment.simd && amd64

package simd

import (
	"simd/archsimd"
	"unsafe"
)

// Numbers of float32 and of float64 in a vector.
const (
	Singles16 = 16
	Singles8  = 8
	Doubles16 = 8
	Doubles8  = 4
)

var (
	iota16       = [Singles16]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	iota8        = [Singles8]int32{0, 1, 2, 3, 4, 5, 6, 7}
	iota4        = [4]int32{0, 1, 2, 3}
	iotaDouble16 = [Doubles16]int64{0, 1, 2, 3, 4, 5, 6, 7}
	iotaDouble8  = [Doubles8]int64{0, 1, 2, 3}

	ones       = [Singles16]float32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	onesDouble = [Doubles16]float64{1, 1, 1, 1, 1, 1, 1, 1}
)

// Numbers of float32 in half a vector.
const (
	Half16 = 8
	Half8  = 4
)

// LoadHalf16 loads half a vector from p + 4i.
func LoadHalf16(p unsafe.Pointer, i int) archsimd.Float32x8 { return Load8(p, i) }

// LoadHalf8 loads half a vector from p + 4i.
func LoadHalf8(p unsafe.Pointer, i int) archsimd.Float32x4 {
	return archsimd.LoadFloat32x4((*[Half8]float32)(unsafe.Add(p, 4*i)))
}

// StoreHalf16 stores v at p + 4i.
func StoreHalf16(p unsafe.Pointer, i int, v archsimd.Float32x8) { Store8(p, i, v) }

// StoreHalf8 stores v at p + 4i.
func StoreHalf8(p unsafe.Pointer, i int, v archsimd.Float32x4) {
	v.Store((*[Half8]float32)(unsafe.Add(p, 4*i)))
}

// FillHalf16 returns x in all lanes of half a vector.
func FillHalf16(x float32) archsimd.Float32x8 { return archsimd.BroadcastFloat32x8(x) }

// FillHalf8 returns x in all lanes of half a vector.
func FillHalf8(x float32) archsimd.Float32x4 { return archsimd.BroadcastFloat32x4(x) }

// LoadWidened16 loads a vector of float64 from float32 numbers at p + 4i.
func LoadWidened16(p unsafe.Pointer, i int) archsimd.Float64x8 {
	return LoadHalf16(p, i).ConvertToFloat64()
}

// LoadWidened8 loads a vector of float64 from float32 numbers at p + 4i.
func LoadWidened8(p unsafe.Pointer, i int) archsimd.Float64x4 {
	return LoadHalf8(p, i).ConvertToFloat64()
}

// GetWidened8 loads a vector of float64 from x[i:].
func GetWidened8(x []float32, i int) archsimd.Float64x4 {
	return archsimd.LoadFloat32x4((*[Doubles8]float32)(x[i:])).ConvertToFloat64()
}

// FirstWidened16 selects the first n numbers for LoadFirstWidened16.
func FirstWidened16(n int) archsimd.Mask32x8 { return First8(n) }

// FirstWidened8 selects the first n numbers for LoadFirstWidened8.
func FirstWidened8(n int) archsimd.Mask32x4 {
	return archsimd.LoadInt32x4(&iota4).Less(archsimd.BroadcastInt32x4(int32(n)))
}

// LoadFirstWidened16 is LoadWidened16 of the numbers of mask: see LoadFirst16.
//
//go:nocheckptr
func LoadFirstWidened16(p unsafe.Pointer, i int, mask archsimd.Mask32x8) archsimd.Float64x8 {
	return archsimd.LoadMaskedFloat32x8((*[Doubles16]float32)(unsafe.Add(p, 4*i)), mask).ConvertToFloat64()
}

// LoadFirstWidened8 is LoadWidened8 of the numbers of mask: see LoadFirst8.
//
//go:nocheckptr
func LoadFirstWidened8(p unsafe.Pointer, i int, mask archsimd.Mask32x4) archsimd.Float64x4 {
	return archsimd.LoadMaskedFloat32x4((*[Doubles8]float32)(unsafe.Add(p, 4*i)), mask).ConvertToFloat64()
}

// WidenPart16 loads the numbers of x, and zeros beyond its end.
func WidenPart16(x []float32) archsimd.Float64x8 {
	return LoadFirstWidened16(At(x), 0, FirstWidened16(len(x)))
}

// WidenPart8 loads the numbers of x, and zeros beyond its end.
func WidenPart8(x []float32) archsimd.Float64x4 {
	return LoadFirstWidened8(At(x), 0, FirstWidened8(len(x)))
}

// BroadcastWidened16 loads the number of float32 at p + 4i into all lanes. It converts a vector: a conversion of a
// scalar between vectors makes some processors wait.
func BroadcastWidened16(p unsafe.Pointer, i int) archsimd.Float64x8 {
	return archsimd.BroadcastFloat32x8(*(*float32)(unsafe.Add(p, 4*i))).ConvertToFloat64()
}

// BroadcastWidened8 is BroadcastWidened16 for AVX2.
func BroadcastWidened8(p unsafe.Pointer, i int) archsimd.Float64x4 {
	return archsimd.BroadcastFloat32x4(*(*float32)(unsafe.Add(p, 4*i))).ConvertToFloat64()
}

// StoreNarrowed16 stores v as float32 at p + 4i.
func StoreNarrowed16(p unsafe.Pointer, i int, v archsimd.Float64x8) {
	StoreHalf16(p, i, v.ConvertToFloat32())
}

// StoreNarrowed8 stores v as float32 at p + 4i.
func StoreNarrowed8(p unsafe.Pointer, i int, v archsimd.Float64x4) {
	StoreHalf8(p, i, v.ConvertToFloat32())
}
