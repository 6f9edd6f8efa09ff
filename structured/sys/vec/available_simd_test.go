//go:build goexperiment.simd && amd64

package vec

import "simd/archsimd"

// available returns the loops that this build and machine can run.
func available() []*loops {
	all := []*loops{&plain}
	if archsimd.X86.AVX2() && archsimd.X86.FMA() {
		all = append(all, &avx2)
	}
	if archsimd.X86.AVX512() {
		all = append(all, choose())
	}
	return all
}
