//go:build !goexperiment.simd || !amd64

package chain

func choose() *kernels { return &plain }
