//go:build !goexperiment.simd || !amd64

package nets

func availableSparse() []*sparseLoops { return []*sparseLoops{&plainSparse} }
