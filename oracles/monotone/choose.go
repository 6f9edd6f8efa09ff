//go:build !goexperiment.simd || !amd64

package monotone

func choose() *kernels { return &plain }
