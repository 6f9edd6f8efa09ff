//go:build goexperiment.simd && amd64

package pcfg

import (
	"simd/archsimd"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

var avx512 = &kernels{name: "AVX-512", dots: dots16, spread: spread16}

// dots16 takes four rows at a time.
func dots16(to, x, r []float64) {
	pt, px, n := simd.At(to), simd.At(x), len(x)
	a := 0
	for ; a+3 < len(to); a += 4 {
		r0, r1, r2, r3 := simd.At(r[a*n:]), simd.At(r[(a+1)*n:]), simd.At(r[(a+2)*n:]), simd.At(r[(a+3)*n:])
		var s0, s1, s2, s3 archsimd.Float64x8
		for i := 0; i < n; i += simd.Doubles16 {
			v := simd.LoadDouble16(px, i)
			s0, s1 = v.MulAdd(simd.LoadDouble16(r0, i), s0), v.MulAdd(simd.LoadDouble16(r1, i), s1)
			s2, s3 = v.MulAdd(simd.LoadDouble16(r2, i), s2), v.MulAdd(simd.LoadDouble16(r3, i), s3)
		}
		simd.StoreSumDouble16(pt, a, s0)
		simd.StoreSumDouble16(pt, a+1, s1)
		simd.StoreSumDouble16(pt, a+2, s2)
		simd.StoreSumDouble16(pt, a+3, s3)
	}
	for ; a < len(to); a++ {
		row := simd.At(r[a*n:])
		var s archsimd.Float64x8
		for i := 0; i < n; i += simd.Doubles16 {
			s = simd.LoadDouble16(px, i).MulAdd(simd.LoadDouble16(row, i), s)
		}
		simd.StoreSumDouble16(pt, a, s)
	}
	archsimd.ClearAVXUpperBits()
}

func spread16(y, x, q, r, g []float64) {
	py, px, pr, pg, n := simd.At(y), simd.At(x), simd.At(r), simd.At(g), len(x)
	for i := 0; i < n; i += simd.Doubles16 {
		v, row := simd.LoadDouble16(px, i), i
		var sum archsimd.Float64x8
		for _, p := range q {
			by := simd.FillDouble16(p)
			sum = by.MulAdd(simd.LoadDouble16(pr, row), sum)
			simd.StoreDouble16(pg, row, by.MulAdd(v, simd.LoadDouble16(pg, row)))
			row += n
		}
		simd.StoreDouble16(py, i, sum)
	}
	archsimd.ClearAVXUpperBits()
}
