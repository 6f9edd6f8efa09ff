//go:build !goexperiment.simd || !amd64

package kernels

func chooseRows() *rowLoops { return &plainRows }
