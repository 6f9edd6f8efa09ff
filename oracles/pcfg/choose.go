//go:build !goexperiment.simd || !amd64

package pcfg

func choose() *kernels { return &plain }
