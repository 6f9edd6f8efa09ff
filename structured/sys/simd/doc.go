// Package simd holds the primitives of vector kernels, which are compiled with GOEXPERIMENT=simd: loads, stores, masks,
// and sums and maxima over the lanes of a vector.
//
// The number at the end of a name says how many float32 a vector holds: 16 with AVX-512, 8 with AVX2. A vector of
// float64 (Double) holds half as many. So halve turns a kernel for AVX-512 into one for AVX2. Primitives that take an
// address check no bounds, and count from it in numbers; Get and Put check them.
package simd

//go:generate go run github.com/dsp-go/dsp/structured/sys/vec/halve

import "unsafe"

// At returns the address of the first number of x.
func At[E any](x []E) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }
