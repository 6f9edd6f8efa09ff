//go:build !amd64

package nets

// ownBLAS returns our own matrix products for this processor: none.
func ownBLAS() []BLAS { return nil }
