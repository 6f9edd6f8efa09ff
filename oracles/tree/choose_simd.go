//go:build goexperiment.simd && amd64

package tree

import "github.com/dsp-go/dsp/structured/sys/instructions"

func choose() *kernels {
	if instructions.AVX2() {
		return &avx2
	}
	return &plain
}
