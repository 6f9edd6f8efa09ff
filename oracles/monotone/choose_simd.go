//go:build goexperiment.simd && amd64

package monotone

import "simd/archsimd"

func choose() *kernels {
	switch x86 := archsimd.X86; {
	case x86.AVX512():
		return &avx512
	case x86.AVX2() && x86.FMA():
		return &avx2
	}
	return &plain
}
