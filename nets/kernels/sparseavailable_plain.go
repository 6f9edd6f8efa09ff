//go:build !goexperiment.simd || !amd64

package kernels

func AvailableSparse() []*SparseLoops { return []*SparseLoops{&plainSparse} }
