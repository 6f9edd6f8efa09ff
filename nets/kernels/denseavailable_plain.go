//go:build !goexperiment.simd || !amd64

package kernels

// AvailableDense returns the loops that this processor can run, the fastest first.
func AvailableDense() []*DenseLoops { return []*DenseLoops{&plainDense} }
