//go:build !goexperiment.simd || !amd64

package exact

func choose() *kernels { return &plain }
