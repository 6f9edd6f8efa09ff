//go:build !goexperiment.simd || !amd64

package reweighted

// settle does nothing without vector instructions.
func settle() {}
