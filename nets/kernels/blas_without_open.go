//go:build !linux && !darwin

package kernels

// openBLAS returns none: libraries are loaded at run time on Linux and macOS only.
func openBLAS() []BLAS { return nil }
