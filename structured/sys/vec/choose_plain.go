//go:build !goexperiment.simd || !amd64

package vec

func choose() *loops { return &plain }
