//go:build goexperiment.simd && amd64

package exact

import (
	"simd/archsimd"
	"unsafe"
)

// The primitives of the kernels, for vectors of 16 and 8 lanes of float32, which are 8 and 4 of float64. Kernels check no bounds.

// Numbers per vector.
const (
	half16 = 8
	half8  = 4
)

type (
	double16 = archsimd.Float64x8
	double8  = archsimd.Float64x4
)

var (
	iota16 = [half16]int64{0, 1, 2, 3, 4, 5, 6, 7}
	iota8  = [half8]int64{0, 1, 2, 3}

	iotaSingle = [half16]int32{0, 1, 2, 3, 4, 5, 6, 7}

	zero16 double16
	zero8  double8
)

// load16 loads a vector from p + 8i.
func load16(p unsafe.Pointer, i int) double16 {
	return archsimd.LoadFloat64x8((*[half16]float64)(unsafe.Add(p, 8*i)))
}

func load8(p unsafe.Pointer, i int) double8 {
	return archsimd.LoadFloat64x4((*[half8]float64)(unsafe.Add(p, 8*i)))
}

// store16 stores a vector at p + 8i.
func store16(p unsafe.Pointer, i int, v double16) {
	v.Store((*[half16]float64)(unsafe.Add(p, 8*i)))
}

func store8(p unsafe.Pointer, i int, v double8) { v.Store((*[half8]float64)(unsafe.Add(p, 8*i))) }

// single16 loads float32 numbers from p + 4i.
func single16(p unsafe.Pointer, i int) double16 {
	return archsimd.LoadFloat32x8((*[half16]float32)(unsafe.Add(p, 4*i))).ConvertToFloat64()
}

func single8(p unsafe.Pointer, i int) double8 {
	return archsimd.LoadFloat32x4((*[half8]float32)(unsafe.Add(p, 4*i))).ConvertToFloat64()
}

// part16 loads the numbers of x, at least one, and zeros beyond its end. It touches no other memory, though the pointer's type suggests so to checkptr.
//
//go:nocheckptr
func part16(x []float32) double16 {
	mask := archsimd.LoadInt32x8(&iotaSingle).Less(archsimd.BroadcastInt32x8(int32(len(x))))
	return archsimd.LoadMaskedFloat32x8((*[half16]float32)(unsafe.Pointer(&x[0])), mask).ConvertToFloat64()
}

//go:nocheckptr
func part8(x []float32) double8 {
	mask := archsimd.LoadInt32x4((*[half8]int32)(iotaSingle[:half8])).Less(archsimd.BroadcastInt32x4(int32(len(x))))
	return archsimd.LoadMaskedFloat32x4((*[half8]float32)(unsafe.Pointer(&x[0])), mask).ConvertToFloat64()
}

// narrow16 stores a vector as float32 at p + 4i.
func narrow16(p unsafe.Pointer, i int, v double16) {
	v.ConvertToFloat32().Store((*[half16]float32)(unsafe.Add(p, 4*i)))
}

func narrow8(p unsafe.Pointer, i int, v double8) {
	v.ConvertToFloat32().Store((*[half8]float32)(unsafe.Add(p, 4*i)))
}

// narrowPart16 stores as much of a vector as x holds.
func narrowPart16(x []float32, v double16) { v.ConvertToFloat32().StoreSlicePart(x) }

func narrowPart8(x []float32, v double8) { v.ConvertToFloat32().StoreSlicePart(x) }

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

// first16 selects the first n lanes.
func first16(n int) archsimd.Mask64x8 {
	return archsimd.LoadInt64x8(&iota16).Less(archsimd.BroadcastInt64x8(int64(n)))
}

func first8(n int) archsimd.Mask64x4 {
	return archsimd.LoadInt64x4(&iota8).Less(archsimd.BroadcastInt64x4(int64(n)))
}

// largest16 returns the largest lane in all lanes, which avoids a scalar instruction between those of vectors: that is slow.
func largest16(v double16) double16 {
	w := v.GetLo().Max(v.GetHi())
	x := w.GetLo().Max(w.GetHi())
	return x.Max(x.SelectFromPair(1, 0, x)).Broadcast1To8()
}

func largest8(v double8) double8 {
	x := v.GetLo().Max(v.GetHi())
	return x.Max(x.SelectFromPair(1, 0, x)).Broadcast1To4()
}

// total16 returns the sum of all lanes in all lanes.
func total16(v double16) double16 {
	w := v.GetLo().Add(v.GetHi())
	x := w.GetLo().Add(w.GetHi())
	return x.Add(x.SelectFromPair(1, 0, x)).Broadcast1To8()
}

func total8(v double8) double8 {
	x := v.GetLo().Add(v.GetHi())
	return x.Add(x.SelectFromPair(1, 0, x)).Broadcast1To4()
}

// head16 returns the first lane.
func head16(v double16) float64 { return v.GetLo().GetLo().GetElem(0) }

func head8(v double8) float64 { return v.GetLo().GetElem(0) }

// power16 returns 2^n·p, where shifted is 1.5·2⁵² + n.
func power16(p, shifted double16) double16 {
	return p.AsInt64x8().Add(shifted.AsInt64x8().ShiftAllLeft(52)).AsFloat64x8()
}

func power8(p, shifted double8) double8 {
	return p.AsInt64x4().Add(shifted.AsInt64x4().ShiftAllLeft(52)).AsFloat64x4()
}
