//go:build !goexperiment.simd || !amd64

package kernels

// AvailableProducts returns the loops that this processor can run.
func AvailableProducts() []*ProductLoops { return []*ProductLoops{&plainProducts} }
