//go:build goexperiment.simd && amd64

package segment

import (
	"math"
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

// addSum16 adds the sum of all lanes, added pairwise by halves, to the number at p + 8i. The result passes through an integer register: moves of a scalar
// between vectors, for which the compiler knows only SSE instructions, make some processors wait.
func addSum16(p unsafe.Pointer, i int, v double16) { addSum8(p, i, v.GetLo().Add(v.GetHi())) }

func addSum8(p unsafe.Pointer, i int, v double8) {
	to := unsafe.Add(p, 8*i)
	w := v.GetLo().Add(v.GetHi())
	w = archsimd.BroadcastFloat64x2(*(*float64)(to)).Add(w.Add(w.SelectFromPair(1, 0, w)))
	*(*uint64)(to) = w.AsUint64x2().GetElem(0)
}

// expConstants repeats each number of exp16 once per lane, because loading a vector is faster than filling it. The names below are the places.
const (
	expNormal  = constantWidth * iota // the least exponent with a normal result
	expRounder                        // adding 1.5·2⁵² rounds to an integer in the low bits of the sum; subtracting it again gives the rounded number
	expLog2E
	expLn2Hi // −ln2 in two parts, the first with few bits, so that its products with n are exact
	expLn2Lo
	expTaylor // 1/12!, 1/11!, …, 1/1!
	expEnd    = expTaylor + 12*constantWidth
)

const constantWidth = 8 // maximum number of lanes

var expConstants = func() (all [expEnd]float64) {
	numbers := []float64{-708, 3 << 51, math.Log2E, -0x1.62e42feep-1, -0x1.a39ef35793c76p-33}
	for k := 12; k > 0; k-- {
		numbers = append(numbers, 1/math.Gamma(float64(k+1)))
	}
	for i, x := range numbers {
		for lane := range constantWidth {
			all[i*constantWidth+lane] = x
		}
	}
	return all
}()
