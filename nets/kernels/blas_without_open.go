//go:build !linux && !darwin

package kernels

// openBLAS returns none: only on Linux and macOS are libraries loaded at run time.
func openBLAS() []BLAS { return nil }
