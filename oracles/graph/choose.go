//go:build !goexperiment.simd || !amd64

package graph

func choose() *kernels { return &plain }
