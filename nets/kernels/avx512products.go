//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"
	"unsafe"
)

var avx512Products = ProductLoops{"AVX-512", dots16, outer16}

// dots16 keeps the eight sums in registers. Rows beyond the n-th and the m-th repeat the last one.
func dots16(to *[8]float64, x []float32, n int, w []float32, m, k int) {
	_, _ = x[n*k-1], w[m*k-1]
	p, q := unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0])
	p1, p2, p3 := unsafe.Add(p, 4*k*min(1, n-1)), unsafe.Add(p, 4*k*min(2, n-1)), unsafe.Add(p, 4*k*min(3, n-1))
	q1 := unsafe.Add(q, 4*k*(m-1))
	var a0, b0, a1, b1, a2, b2, a3, b3 archsimd.Float64x8
	j := 0
	for ; j <= k-doubles16; j += doubles16 {
		u, v := widen16(q, j), widen16(q1, j)
		x0, x1 := widen16(p, j), widen16(p1, j)
		a0, b0 = x0.MulAdd(u, a0), x0.MulAdd(v, b0)
		a1, b1 = x1.MulAdd(u, a1), x1.MulAdd(v, b1)
		x2, x3 := widen16(p2, j), widen16(p3, j)
		a2, b2 = x2.MulAdd(u, a2), x2.MulAdd(v, b2)
		a3, b3 = x3.MulAdd(u, a3), x3.MulAdd(v, b3)
	}
	if j < k {
		tail := narrow16(k - j)
		u, v := widenFirst16(q, j, tail), widenFirst16(q1, j, tail)
		x0, x1 := widenFirst16(p, j, tail), widenFirst16(p1, j, tail)
		a0, b0 = x0.MulAdd(u, a0), x0.MulAdd(v, b0)
		a1, b1 = x1.MulAdd(u, a1), x1.MulAdd(v, b1)
		x2, x3 := widenFirst16(p2, j, tail), widenFirst16(p3, j, tail)
		a2, b2 = x2.MulAdd(u, a2), x2.MulAdd(v, b2)
		a3, b3 = x3.MulAdd(u, a3), x3.MulAdd(v, b3)
	}
	addUpDoubles16((*[4]float64)(to[0:]), a0, b0, a1, b1)
	addUpDoubles16((*[4]float64)(to[4:]), a2, b2, a3, b3)
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
	for ; j <= k-4*doubles16; j += 4 * doubles16 {
		a0, a1, a2, a3 := loadDoubles16(first, j), loadDoubles16(first, j+doubles16), loadDoubles16(first, j+2*doubles16), loadDoubles16(first, j+3*doubles16)
		b0, b1, b2, b3 := loadDoubles16(second, j), loadDoubles16(second, j+doubles16), loadDoubles16(second, j+2*doubles16), loadDoubles16(second, j+3*doubles16)
		for i, r := range rows {
			at := unsafe.Add(p, 4*(int(r)*k+j))
			a, b := archsimd.BroadcastFloat64x8(v[2*i]), archsimd.BroadcastFloat64x8(v[2*i+1])
			x0, x1 := widen16(at, 0), widen16(at, doubles16)
			a0, b0 = x0.MulAdd(a, a0), x0.MulAdd(b, b0)
			a1, b1 = x1.MulAdd(a, a1), x1.MulAdd(b, b1)
			x2, x3 := widen16(at, 2*doubles16), widen16(at, 3*doubles16)
			a2, b2 = x2.MulAdd(a, a2), x2.MulAdd(b, b2)
			a3, b3 = x3.MulAdd(a, a3), x3.MulAdd(b, b3)
		}
		storeDoubles16(first, j, a0)
		storeDoubles16(first, j+doubles16, a1)
		storeDoubles16(first, j+2*doubles16, a2)
		storeDoubles16(first, j+3*doubles16, a3)
		storeDoubles16(second, j, b0)
		storeDoubles16(second, j+doubles16, b1)
		storeDoubles16(second, j+2*doubles16, b2)
		storeDoubles16(second, j+3*doubles16, b3)
	}
	for ; j < k; j += doubles16 {
		n := min(doubles16, k-j)
		tail, narrow := firstDoubles16(n), narrow16(n)
		a0, b0 := loadFirstDoubles16(first, j, tail), loadFirstDoubles16(second, j, tail)
		for i, r := range rows {
			x0 := widenFirst16(unsafe.Add(p, 4*(int(r)*k+j)), 0, narrow)
			a0 = x0.MulAdd(archsimd.BroadcastFloat64x8(v[2*i]), a0)
			b0 = x0.MulAdd(archsimd.BroadcastFloat64x8(v[2*i+1]), b0)
		}
		storeFirstDoubles16(first, j, a0, tail)
		storeFirstDoubles16(second, j, b0, tail)
	}
	archsimd.ClearAVXUpperBits()
}
