//go:build !goexperiment.simd || !amd64

package pcfg

// available returns the kernels that this build and machine can run.
func available() []*kernels { return []*kernels{&plain} }
