//go:build !goexperiment.simd || !amd64

package tree

func choose() *kernels { return &plain }
