//go:build goexperiment.simd && amd64

package oracles

import "simd/archsimd"

func choose() *kernels {
	if archsimd.X86.AVX512() {
		return &avx512
	}
	return &plain
}
