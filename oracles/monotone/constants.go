//go:build goexperiment.simd && amd64

package monotone

import "math"

// constants repeats each number once per lane, because loading a vector is faster than filling it. The names below are
// the places.
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
	numbers := append([]float64{rounder, math.Log2E, ln2Hi, ln2Lo, mostExact, -mostExact, leastPower, 1, 1 << 52,
		1<<52 + 1023, math.Float64frombits(mantissa), math.Float64frombits(52)}, taylor[:]...)
	for i, x := range numbers {
		for lane := range constantWidth {
			all[i*constantWidth+lane] = x
		}
	}
	return all
}()
