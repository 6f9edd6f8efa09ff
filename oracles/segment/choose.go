//go:build !goexperiment.simd || !amd64

package segment

func choose() *kernels { return &plain }
