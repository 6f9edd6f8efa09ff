//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

var avx512Products = &ProductLoops{"AVX-512", dots16, outer16}

// dots16 keeps the eight sums in registers. Rows beyond the n-th and the m-th repeat the last one.
func dots16(to *[8]float64, x []float32, n int, w []float32, m, k int) {
	_, _ = x[n*k-1], w[m*k-1]
	p, q := unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0])
	p1, p2, p3 := unsafe.Add(p, 4*k*min(1, n-1)), unsafe.Add(p, 4*k*min(2, n-1)), unsafe.Add(p, 4*k*min(3, n-1))
	q1 := unsafe.Add(q, 4*k*(m-1))
	var a0, b0, a1, b1, a2, b2, a3, b3 archsimd.Float64x8
	j := 0
	for ; j <= k-simd.Doubles16; j += simd.Doubles16 {
		u, v := simd.LoadWidened16(q, j), simd.LoadWidened16(q1, j)
		x0, x1 := simd.LoadWidened16(p, j), simd.LoadWidened16(p1, j)
		a0, b0 = x0.MulAdd(u, a0), x0.MulAdd(v, b0)
		a1, b1 = x1.MulAdd(u, a1), x1.MulAdd(v, b1)
		x2, x3 := simd.LoadWidened16(p2, j), simd.LoadWidened16(p3, j)
		a2, b2 = x2.MulAdd(u, a2), x2.MulAdd(v, b2)
		a3, b3 = x3.MulAdd(u, a3), x3.MulAdd(v, b3)
	}
	if j < k {
		tail := simd.FirstWidened16(k - j)
		u, v := simd.LoadFirstWidened16(q, j, tail), simd.LoadFirstWidened16(q1, j, tail)
		x0, x1 := simd.LoadFirstWidened16(p, j, tail), simd.LoadFirstWidened16(p1, j, tail)
		a0, b0 = x0.MulAdd(u, a0), x0.MulAdd(v, b0)
		a1, b1 = x1.MulAdd(u, a1), x1.MulAdd(v, b1)
		x2, x3 := simd.LoadFirstWidened16(p2, j, tail), simd.LoadFirstWidened16(p3, j, tail)
		a2, b2 = x2.MulAdd(u, a2), x2.MulAdd(v, b2)
		a3, b3 = x3.MulAdd(u, a3), x3.MulAdd(v, b3)
	}
	simd.SumsOfFour16((*[4]float64)(to[0:]), a0, b0, a1, b1)
	simd.SumsOfFour16((*[4]float64)(to[4:]), a2, b2, a3, b3)
	archsimd.ClearAVXUpperBits()
}

// outer16 keeps the sums of four vectors of columns in registers while it goes through the rows.
func outer16(to []float64, v []float64, x []float32, rows []int32, k int) {
	_ = v[2*len(rows)-1]
	p, last := unsafe.Pointer(&x[0]), uint(len(x)-k)
	first, second := unsafe.Pointer(&to[:k][0]), unsafe.Pointer(&to[k:][:k][0])
	for _, r := range rows {
		if uint(int(r)*k) > last {
			outOfRange(r)
		}
	}
	j := 0
	for ; j <= k-4*simd.Doubles16; j += 4 * simd.Doubles16 {
		a0, a1, a2, a3 := simd.LoadDouble16(first, j), simd.LoadDouble16(first, j+simd.Doubles16),
			simd.LoadDouble16(first, j+2*simd.Doubles16), simd.LoadDouble16(first, j+3*simd.Doubles16)
		b0, b1, b2, b3 := simd.LoadDouble16(second, j), simd.LoadDouble16(second, j+simd.Doubles16),
			simd.LoadDouble16(second, j+2*simd.Doubles16), simd.LoadDouble16(second, j+3*simd.Doubles16)
		for i, r := range rows {
			at := unsafe.Add(p, 4*(int(r)*k+j))
			a, b := simd.FillDouble16(v[2*i]), simd.FillDouble16(v[2*i+1])
			x0, x1 := simd.LoadWidened16(at, 0), simd.LoadWidened16(at, simd.Doubles16)
			a0, b0 = x0.MulAdd(a, a0), x0.MulAdd(b, b0)
			a1, b1 = x1.MulAdd(a, a1), x1.MulAdd(b, b1)
			x2, x3 := simd.LoadWidened16(at, 2*simd.Doubles16), simd.LoadWidened16(at, 3*simd.Doubles16)
			a2, b2 = x2.MulAdd(a, a2), x2.MulAdd(b, b2)
			a3, b3 = x3.MulAdd(a, a3), x3.MulAdd(b, b3)
		}
		simd.StoreDouble16(first, j, a0)
		simd.StoreDouble16(first, j+simd.Doubles16, a1)
		simd.StoreDouble16(first, j+2*simd.Doubles16, a2)
		simd.StoreDouble16(first, j+3*simd.Doubles16, a3)
		simd.StoreDouble16(second, j, b0)
		simd.StoreDouble16(second, j+simd.Doubles16, b1)
		simd.StoreDouble16(second, j+2*simd.Doubles16, b2)
		simd.StoreDouble16(second, j+3*simd.Doubles16, b3)
	}
	for ; j < k; j += simd.Doubles16 {
		n := min(simd.Doubles16, k-j)
		tail, narrow := simd.FirstDouble16(n), simd.FirstWidened16(n)
		a0, b0 := simd.LoadFirstDouble16(first, j, tail), simd.LoadFirstDouble16(second, j, tail)
		for i, r := range rows {
			x0 := simd.LoadFirstWidened16(unsafe.Add(p, 4*(int(r)*k+j)), 0, narrow)
			a0 = x0.MulAdd(simd.FillDouble16(v[2*i]), a0)
			b0 = x0.MulAdd(simd.FillDouble16(v[2*i+1]), b0)
		}
		simd.StoreFirstDouble16(first, j, a0, tail)
		simd.StoreFirstDouble16(second, j, b0, tail)
	}
	archsimd.ClearAVXUpperBits()
}
