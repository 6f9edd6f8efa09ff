//go:build !goexperiment.simd || !amd64

package matching

func choose() *kernels { return &plain }
