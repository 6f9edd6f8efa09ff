//go:build goexperiment.simd && amd64

package pcfg

import "simd/archsimd"

// available returns the kernels that this build and machine can run.
func available() []*kernels {
	all := []*kernels{&plain}
	if archsimd.X86.AVX2() && archsimd.X86.FMA() {
		all = append(all, &avx2)
	}
	if archsimd.X86.AVX512() {
		all = append(all, &avx512)
	}
	return all
}
