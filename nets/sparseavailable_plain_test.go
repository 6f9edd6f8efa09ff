//go:build !goexperiment.simd || !amd64

package nets

// availableSparse returns the loops that this build and machine can run.
func availableSparse() []*sparseLoops { return []*sparseLoops{&plainSparse} }
