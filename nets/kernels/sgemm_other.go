//go:build !amd64

package kernels

// ownBLAS returns none: the kernels of this package are for amd64.
func ownBLAS() []BLAS { return nil }
