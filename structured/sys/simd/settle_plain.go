//go:build !goexperiment.simd || !amd64

package simd

// Settle does nothing without vector instructions.
func Settle() {}
