//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"

	"github.com/dsp-go/dsp/structured/sys/instructions"
)

// availableProducts returns the loops that this processor can run, the fastest first.
func availableProducts() []*ProductLoops {
	var all []*ProductLoops
	if instructions.AVX512() {
		all = append(all, &avx512Products)
	}
	if instructions.AVX2() {
		all = append(all, &avx2Products)
	}
	return append(all, &plainProducts)
}

// addUpDoubles16 adds up the lanes of four vectors.
func addUpDoubles16(to *[4]float64, a, b, c, d archsimd.Float64x8) {
	addUpDoubles8(to, a.GetLo().Add(a.GetHi()), b.GetLo().Add(b.GetHi()), c.GetLo().Add(c.GetHi()), d.GetLo().Add(d.GetHi()))
}

func addUpDoubles8(to *[4]float64, a, b, c, d archsimd.Float64x4) {
	var s [16]float64
	a.Store((*[4]float64)(s[0:]))
	b.Store((*[4]float64)(s[4:]))
	c.Store((*[4]float64)(s[8:]))
	d.Store((*[4]float64)(s[12:]))
	for i := range to {
		to[i] = (s[4*i] + s[4*i+1]) + (s[4*i+2] + s[4*i+3])
	}
}
