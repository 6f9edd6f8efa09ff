//go:build !goexperiment.simd || !amd64

package transcript

func choose() *kernels { return &plain }
