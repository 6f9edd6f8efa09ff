//go:build goexperiment.simd && amd64

package nets

import "simd/archsimd"

// availableSparse returns the loops that this build and machine can run.
func availableSparse() []*sparseLoops {
	all := []*sparseLoops{&plainSparse}
	if archsimd.X86.AVX2() && archsimd.X86.FMA() {
		all = append(all, &avx2Sparse)
	}
	if archsimd.X86.AVX512() {
		all = append(all, &avx512Sparse)
	}
	return all
}
