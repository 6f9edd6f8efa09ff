//go:build !goexperiment.simd || !amd64

package vec

// available returns the loops that this build and machine can run.
func available() []*loops { return []*loops{&plain} }
