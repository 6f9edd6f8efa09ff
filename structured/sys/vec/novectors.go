//go:build !goexperiment.simd || !amd64

package vec

// Without vector instructions there are the plain loops alone.
var avx2, avx512 *loops
