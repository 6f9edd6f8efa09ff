//go:build goexperiment.simd && amd64

package chain

import (
	"simd/archsimd"
	"unsafe"
)

// The primitives of the kernels for 16 and 8 lanes. Kernels check no bounds: rows are readable in whole vectors.

// Numbers per vector.
const (
	lanes16 = 16
	lanes8  = 8
)

var (
	iota16       = [16]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	iota8        = [8]int32{0, 1, 2, 3, 4, 5, 6, 7}
	onesDouble16 = [8]float64{1, 1, 1, 1, 1, 1, 1, 1}
	ones16       = [16]float32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}

	zero16 archsimd.Float32x16
	zero8  archsimd.Float32x8
)

// load16 loads 16 numbers from p + 4i.
func load16(p unsafe.Pointer, i int) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(p, 4*i)))
}

func load8(p unsafe.Pointer, i int) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(p, 4*i)))
}

// store16 stores 16 numbers at p + 4i.
func store16(p unsafe.Pointer, i int, v archsimd.Float32x16) {
	v.Store((*[16]float32)(unsafe.Add(p, 4*i)))
}

func store8(p unsafe.Pointer, i int, v archsimd.Float32x8) {
	v.Store((*[8]float32)(unsafe.Add(p, 4*i)))
}

// broadcast16 loads the number at p + 4i into all lanes.
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

func largest8(v archsimd.Float32x8) float32 { return largests4(v).GetElem(0) }

// largests16 returns the largest lane in all lanes, which avoids a scalar: see overSum16.
func largests16(v archsimd.Float32x16) archsimd.Float32x16 {
	return largests4(v.GetLo().Max(v.GetHi())).Broadcast1To16()
}

func largests8(v archsimd.Float32x8) archsimd.Float32x8 { return largests4(v).Broadcast1To8() }

func largests4(v archsimd.Float32x8) archsimd.Float32x4 {
	w := v.GetLo().Max(v.GetHi())
	w = w.Max(w.SelectFromPair(2, 3, 0, 1, w))
	return w.Max(w.SelectFromPair(1, 0, 3, 2, w))
}

// smallest16 returns the smallest lane.
func smallest16(v archsimd.Float32x16) float32 { return smallest8(v.GetLo().Min(v.GetHi())) }

func smallest8(v archsimd.Float32x8) float32 {
	w := v.GetLo().Min(v.GetHi())
	w = w.Min(w.SelectFromPair(2, 3, 0, 1, w))
	return w.Min(w.SelectFromPair(1, 0, 3, 2, w)).GetElem(0)
}

// sum16 returns the sum of all lanes, added pairwise by halves.
func sum16(v archsimd.Float32x16) float32 { return sum8(v.GetLo().Add(v.GetHi())) }

func sum8(v archsimd.Float32x8) float32 { return total8(v).GetElem(0) }

// storeSum16 stores sum16 at p + 4i. The sum passes through an integer register: moves of a scalar between vectors, for which the compiler knows only SSE
// instructions, make some processors wait.
func storeSum16(p unsafe.Pointer, i int, v archsimd.Float32x16) {
	storeSum8(p, i, v.GetLo().Add(v.GetHi()))
}

func storeSum8(p unsafe.Pointer, i int, v archsimd.Float32x8) {
	*(*uint32)(unsafe.Add(p, 4*i)) = total8(v).AsUint32x4().GetElem(0)
}

// total8 returns the sum of all lanes in each of four lanes.
func total8(v archsimd.Float32x8) archsimd.Float32x4 {
	w := v.GetLo().Add(v.GetHi())
	w = w.Add(w.SelectFromPair(2, 3, 0, 1, w))
	return w.Add(w.SelectFromPair(1, 0, 3, 2, w))
}

// overSum16 returns 1/Σ_j v_j in all lanes, and the sum. It divides vectors: a scalar instruction between vector instructions
// whose registers' upper halves are in use costs more than the rest of a step.
func overSum16(v archsimd.Float32x16) (archsimd.Float32x16, archsimd.Float32x4) {
	sum := total8(v.GetLo().Add(v.GetHi()))
	return load16(unsafe.Pointer(&ones16), 0).Div(sum.Broadcast1To16()), sum
}

func overSum8(v archsimd.Float32x8) (archsimd.Float32x8, archsimd.Float32x4) {
	sum := total8(v)
	return load8(unsafe.Pointer(&ones16), 0).Div(sum.Broadcast1To8()), sum
}

// A vector of float64, called double, has half as many lanes.

type (
	double16 = archsimd.Float64x8
	double8  = archsimd.Float64x4
)

const (
	half16 = 8
	half8  = 4
)

var (
	zeroDouble16 double16
	zeroDouble8  double8
)

// widen16 converts to float64.
func widen16(v archsimd.Float32x16) (lo, hi double16) {
	return v.GetLo().ConvertToFloat64(), v.GetHi().ConvertToFloat64()
}

func widen8(v archsimd.Float32x8) (lo, hi double8) {
	return v.GetLo().ConvertToFloat64(), v.GetHi().ConvertToFloat64()
}

// narrow16 converts to float32.
func narrow16(lo, hi double16) archsimd.Float32x16 {
	return zero16.SetLo(lo.ConvertToFloat32()).SetHi(hi.ConvertToFloat32())
}

func narrow8(lo, hi double8) archsimd.Float32x8 {
	return zero8.SetLo(lo.ConvertToFloat32()).SetHi(hi.ConvertToFloat32())
}

// loadDouble16 loads a vector from p + 8i.
func loadDouble16(p unsafe.Pointer, i int) double16 {
	return archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(p, 8*i)))
}

func loadDouble8(p unsafe.Pointer, i int) double8 {
	return archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(p, 8*i)))
}

// storeDouble16 stores a vector at p + 8i.
func storeDouble16(p unsafe.Pointer, i int, v double16) {
	v.Store((*[8]float64)(unsafe.Add(p, 8*i)))
}

func storeDouble8(p unsafe.Pointer, i int, v double8) {
	v.Store((*[4]float64)(unsafe.Add(p, 8*i)))
}

// loadAsDouble16 loads the numbers of x, at least one, and zeros beyond its end. It touches no other memory, though the pointer's type suggests so to
// checkptr.
//
//go:nocheckptr
func loadAsDouble16(x []float32) double16 {
	mask := archsimd.LoadInt32x8(&iota8).Less(archsimd.BroadcastInt32x8(int32(len(x))))
	return archsimd.LoadMaskedFloat32x8((*[half16]float32)(unsafe.Pointer(&x[0])), mask).ConvertToFloat64()
}

//go:nocheckptr
func loadAsDouble8(x []float32) double8 {
	mask := archsimd.LoadInt32x4((*[half8]int32)(iota8[:half8])).Less(archsimd.BroadcastInt32x4(int32(len(x))))
	return archsimd.LoadMaskedFloat32x4((*[half8]float32)(unsafe.Pointer(&x[0])), mask).ConvertToFloat64()
}

// storeAsSingle16 stores as much of a vector as x holds.
func storeAsSingle16(x []float32, v double16) { v.ConvertToFloat32().StoreSlicePart(x) }

func storeAsSingle8(x []float32, v double8) { v.ConvertToFloat32().StoreSlicePart(x) }

// fillDouble16 returns x in all lanes.
func fillDouble16(x float64) double16 { return archsimd.BroadcastFloat64x8(x) }

func fillDouble8(x float64) double8 { return archsimd.BroadcastFloat64x4(x) }

// broadcastDouble16 loads the number at p + 8i into all lanes.
func broadcastDouble16(p unsafe.Pointer, i int) double16 {
	return archsimd.BroadcastFloat64x8(*(*float64)(unsafe.Add(p, 8*i)))
}

func broadcastDouble8(p unsafe.Pointer, i int) double8 {
	return archsimd.BroadcastFloat64x4(*(*float64)(unsafe.Add(p, 8*i)))
}

// largestsDouble16 returns the largest lane in all lanes, and its bits.
func largestsDouble16(v double16) (double16, uint64) {
	w := v.GetLo().Max(v.GetHi())
	x := w.GetLo().Max(w.GetHi())
	x = x.Max(x.SelectFromPair(1, 0, x))
	return x.Broadcast1To8(), x.AsUint64x2().GetElem(0)
}

func largestsDouble8(v double8) (double8, uint64) {
	x := v.GetLo().Max(v.GetHi())
	x = x.Max(x.SelectFromPair(1, 0, x))
	return x.Broadcast1To4(), x.AsUint64x2().GetElem(0)
}

// smallestDouble16 returns the smallest lane.
func smallestDouble16(v double16) float64 { return smallestDouble8(v.GetLo().Min(v.GetHi())) }

func smallestDouble8(v double8) float64 {
	w := v.GetLo().Min(v.GetHi())
	return w.Min(w.SelectFromPair(1, 0, w)).GetElem(0)
}

// storeSumDouble16 stores the sum of all lanes, added pairwise by halves, at p + 8i: see storeSum16.
func storeSumDouble16(p unsafe.Pointer, i int, v double16) {
	storeSumDouble8(p, i, v.GetLo().Add(v.GetHi()))
}

func storeSumDouble8(p unsafe.Pointer, i int, v double8) {
	*(*uint64)(unsafe.Add(p, 8*i)) = totalDouble8(v).AsUint64x2().GetElem(0)
}

func totalDouble8(v double8) archsimd.Float64x2 {
	w := v.GetLo().Add(v.GetHi())
	return w.Add(w.SelectFromPair(1, 0, w))
}

// overSumDouble16 is overSum16 for float64.
func overSumDouble16(v double16) (double16, archsimd.Float64x2) {
	sum := totalDouble8(v.GetLo().Add(v.GetHi()))
	return loadDouble16(unsafe.Pointer(&onesDouble16), 0).Div(sum.Broadcast1To8()), sum
}

func overSumDouble8(v double8) (double8, archsimd.Float64x2) {
	sum := totalDouble8(v)
	return loadDouble8(unsafe.Pointer(&onesDouble16), 0).Div(sum.Broadcast1To4()), sum
}
