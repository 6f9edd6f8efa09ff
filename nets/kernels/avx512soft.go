//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

// gatherSoft16 sums one vector of each row at a time, in a register.
func gatherSoft16(to, w []float32, τ float32, index []int32, value []float32) {
	y := len(to)
	p, last, x := unsafe.Pointer(&w[:y][0]), uint(len(w)-y), simd.Fill16(1)
	high, low := simd.Fill16(τ), simd.Fill16(-τ)
	for j := 0; j < y; j += simd.Singles16 {
		tail := simd.First16(y - j)
		sum := simd.LoadFirst16(unsafe.Pointer(&to[j]), 0, tail)
		for k, row := range index {
			at := uint(int(row) * y)
			if at > last {
				outOfRange(row)
			}
			if value != nil {
				x = simd.Fill16(value[k])
			}
			r := simd.LoadFirst16(unsafe.Add(p, 4*(at+uint(j))), 0, tail)
			sum = x.MulAdd(r.Sub(r.Min(high).Max(low)), sum)
		}
		simd.StoreFirst16(unsafe.Pointer(&to[j]), 0, sum, tail)
	}
	archsimd.ClearAVXUpperBits()
}

// measureSoft16 is measure16 on one vector of each row at a time.
func measureSoft16(w, v []float32, c, τ float32, index []int32, value []float32, change *Changes) {
	y := len(v)
	p, last := unsafe.Pointer(&w[:y][0]), uint(len(w)-y)
	one := simd.Fill16(c)
	x, high, low := one, simd.Fill16(τ), simd.Fill16(-τ)
	for j := 0; j < y; j += simd.Singles16 {
		tail := simd.First16(y - j)
		from := simd.LoadFirst16(unsafe.Pointer(&v[j]), 0, tail)
		for k, row := range index {
			at := uint(int(row) * y)
			if at > last {
				outOfRange(row)
			}
			if value != nil {
				x = one.Mul(simd.Fill16(value[k]))
			}
			r, lanes := unsafe.Add(p, 4*(at+uint(j))), unsafe.Pointer(&change[place(row)])
			b := simd.LoadFirst16(r, 0, tail)
			a := x.MulAdd(from, b)
			simd.StoreFirst16(r, 0, a, tail)
			b, a = b.Sub(b.Min(high).Max(low)), a.Sub(a.Min(high).Max(low))
			simd.Store16(lanes, 0, simd.Load16(lanes, 0).Add(a.Sub(b).Mul(a.Add(b))))
		}
	}
	archsimd.ClearAVXUpperBits()
}

func measureRunSoft16(w, v []float32, c, τ float32) float64 {
	n := len(w)
	if n == 0 {
		return 0
	}
	to, from := unsafe.Pointer(&w[0]), unsafe.Pointer(&v[:n][0])
	x, mask := simd.Fill16(c), simd.First16(simd.Singles16)
	high, low := simd.Fill16(τ), simd.Fill16(-τ)
	var sum archsimd.Float32x16
	for i := 0; i < n; i += simd.Singles16 {
		if i+simd.Singles16 > n {
			mask = simd.First16(n - i)
		}
		b := simd.LoadFirst16(to, i, mask)
		a := x.MulAdd(simd.LoadFirst16(from, i, mask), b)
		simd.StoreFirst16(to, i, a, mask)
		b, a = b.Sub(b.Min(high).Max(low)), a.Sub(a.Min(high).Max(low))
		sum = a.Sub(b).MulAdd(a.Add(b), sum)
	}
	return simd.WideSum16(sum)
}
