//go:build goexperiment.simd && amd64

package tree

import "github.com/dsp-go/dsp/structured/sys/instructions"

func choose() *kernels {
	switch {
	case instructions.AVX512():
		return &avx512
	case instructions.AVX2():
		return &avx2
	}
	return &plain
}

// avx512 is avx2 but for sentences abreast.
var avx512 = func() kernels {
	k := avx2
	k.name, k.abreast = "AVX-512", &abreast16
	return k
}()
