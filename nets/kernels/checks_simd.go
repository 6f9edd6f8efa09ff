//go:build goexperiment.simd && amd64

package kernels

import (
	"fmt"
	"unsafe"
)

// four returns the addresses of rows r to r+3 of a matrix with rows of n numbers. The last row stands in for those
// beyond the end.
func four[E any](of [][]E, r, n int) (p0, p1, p2, p3 unsafe.Pointer) {
	last := len(of) - 1
	at := func(k int) unsafe.Pointer { return unsafe.Pointer(&of[min(k, last)][:n][0]) }
	return at(r), at(r + 1), at(r + 2), at(r + 3)
}

// denseSize returns the sizes of a product of rows z and rows v with weights. ok is false if there is nothing to do. It
// panics if the weights are too few.
func denseSize[A, B any](z [][]A, v [][]B, weights int) (dim, width int, ok bool) {
	if len(v) == 0 || len(z[0]) == 0 || len(v[0]) == 0 {
		return 0, 0, false
	}
	if dim, width = len(z[0]), len(v[0]); dim*width > weights || len(z) != len(v) {
		panic(fmt.Sprintf("%d rows of %d numbers times %d weights for %d rows of %d", len(z), dim, weights, len(v), width))
	}
	return dim, width, true
}

// rowsAtOnce is how many rows a pull goes through for each few sums, so that the rows stay in the first cache.
const rowsAtOnce = 32

// widenedAtOnce is how many numbers of a row, and rows of weights, a score in float64 widens at a time.
const widenedAtOnce = 64

// outOfRange is what the sparse loops say of a row beyond w; they check nothing else.
func outOfRange(row int32) { panic(fmt.Sprintf("attribute %d is beyond the weights", row)) }
