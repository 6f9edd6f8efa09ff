//go:build !goexperiment.simd || !amd64

package kernels

// availableProducts returns the loops that this processor can run.
func availableProducts() []*ProductLoops { return []*ProductLoops{&plainProducts} }
