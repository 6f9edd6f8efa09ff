//go:build !amd64

package kernels

// availableInt8 returns the loops that this processor can run.
func availableInt8() []*int8Loops { return []*int8Loops{&plainInt8} }

// ownBLAS returns none: the kernels of this package are for amd64.
func ownBLAS() []BLAS { return nil }
