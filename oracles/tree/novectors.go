//go:build !goexperiment.simd || !amd64

package tree

// Without vector instructions there are the plain kernels alone.
var avx2, avx512 *kernels
