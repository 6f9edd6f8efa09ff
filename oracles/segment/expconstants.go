//go:build goexperiment.simd && amd64

package segment

import "math"

// expConstants repeats each number of exp16 once per lane, because loading a vector is faster than filling it. The
// names below are the places.
const (
	expNormal = constantWidth * iota // the least exponent with a normal result
	// adding 1.5·2⁵² rounds to an integer in the low bits of the sum; subtracting it again gives the rounded number
	expRounder
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
