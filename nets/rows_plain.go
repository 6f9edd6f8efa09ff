//go:build !goexperiment.simd || !amd64

package nets

func chooseRows() *rowLoops { return &plainRows }
