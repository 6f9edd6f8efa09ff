//go:build goexperiment.simd && amd64

package exact

import "math"

// Constants of exp(x) = 2^n exp(r). Adding rounder rounds to an integer n in the low bits of the sum.
const (
	log2E   = math.Log2E
	ln2     = math.Ln2
	rounder = 3 << 51
)
