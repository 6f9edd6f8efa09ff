//go:build goexperiment.simd && amd64

package monotone

import (
	"math"
	"simd/archsimd"
	"unsafe"
)

// The primitives of the kernels, named after the number of float32 in a vector. Kernels check no bounds: rows are whole vectors.

type (
	double16 = archsimd.Float64x8
	double8  = archsimd.Float64x4
	bits16   = archsimd.Uint64x8
	bits8    = archsimd.Uint64x4
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

// add16 adds a vector to that at p + 8i.
func add16(p unsafe.Pointer, i int, v double16) { store16(p, i, load16(p, i).Add(v)) }

func add8(p unsafe.Pointer, i int, v double8) { store8(p, i, load8(p, i).Add(v)) }

// at returns the address of a row.
func at(x []float64) unsafe.Pointer { return unsafe.Pointer(&x[0]) }

// constants repeats each number once per lane, because loading a vector is faster than filling it. The names below are the places.
const (
	placeRounder = constantWidth * iota
	placeLog2E
	placeLn2Hi
	placeLn2Lo
	placeMost  // n below is exact
	placeLeast // −placeMost
	placePower
	placeOne   // bits
	placeFloor // 2⁵²
	placeBias  // 2⁵² + 1023
	placeMantissa
	placeExponent // bits of a mantissa, as an integer
	placeTaylor
	placeEnd = placeTaylor + 13*constantWidth
)

const constantWidth = 8 // maximum number of lanes

var constants = func() (all [placeEnd]float64) {
	numbers := append([]float64{rounder, math.Log2E, ln2Hi, ln2Lo, mostExact, -mostExact, leastPower, 1, 1 << 52, 1<<52 + 1023, math.Float64frombits(mantissa), math.Float64frombits(52)}, taylor[:]...)
	for i, x := range numbers {
		for lane := range constantWidth {
			all[i*constantWidth+lane] = x
		}
	}
	return all
}()
