//go:build static || (!linux && !darwin)

package kernels

// openBLAS returns none: libraries are loaded at run time on Linux and macOS alone, and a static program loads none.
func openBLAS() []BLAS { return nil }
