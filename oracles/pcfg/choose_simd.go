//go:build goexperiment.simd && amd64

package pcfg

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
