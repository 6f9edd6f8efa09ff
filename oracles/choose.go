//go:build !goexperiment.simd || !amd64

package oracles

func choose() *kernels { return &plain }
