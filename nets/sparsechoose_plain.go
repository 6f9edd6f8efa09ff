//go:build !goexperiment.simd || !amd64

package nets

func chooseSparse() *sparseLoops { return &plainSparse }
