//go:build !amd64

package kernels

// ownBLAS returns our own matrix products for this processor: none.
func ownBLAS() []BLAS { return nil }
