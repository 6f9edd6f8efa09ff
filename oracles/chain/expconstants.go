//go:build goexperiment.simd && amd64

package chain

import "math"

// exp(x) = 2^n exp(r) with n = round(x log₂e) and |r| ≤ ln2/2; the polynomial is that of Cephes' expf (Moshier 1989).
// expConstants repeats each number once per lane, because loading a vector is faster than filling it. The names below
// are the offsets.
const (
	expNormal  = expWidth * iota // the least exponent with a normal result
	expRounder                   // adding 1.5·2²³ rounds to an integer in the low bits of the sum; subtracting it again gives the rounded number
	expLog2E
	expLn2Hi // −ln2 in two parts, the first with few bits, so that its products with n are exact
	expLn2Lo
	expP0
	expP1
	expP2
	expP3
	expP4
	expP5
	expOne
	expEnd
)

const expWidth = 16 // maximum number of lanes

var expConstants = func() (all [expEnd]float32) {
	for i, x := range []float32{-87.3, 3 << 22, math.Log2E, -0.693359375, 2.12194440e-4, 1.9875691500e-4, 1.3981999507e-3,
		8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1} {
		for lane := range expWidth {
			all[i*expWidth+lane] = x
		}
	}
	return all
}()
