//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"
	"unsafe"
)

// gatherSoft16 sums one vector of each row at a time, in a register.
func gatherSoft16(to, w []float32, τ float32, index []int32, value []float32) {
	y := len(to)
	p, last, x := unsafe.Pointer(&w[:y][0]), uint(len(w)-y), archsimd.BroadcastFloat32x16(1)
	high, low := archsimd.BroadcastFloat32x16(τ), archsimd.BroadcastFloat32x16(-τ)
	for j := 0; j < y; j += lanes16 {
		tail := first16(y - j)
		sum := loadFirst16(unsafe.Pointer(&to[j]), 0, tail)
		for k, row := range index {
			at := uint(int(row) * y)
			if at > last {
				outOfRange(row)
			}
			if value != nil {
				x = archsimd.BroadcastFloat32x16(value[k])
			}
			r := loadFirst16(unsafe.Add(p, 4*(at+uint(j))), 0, tail)
			sum = x.MulAdd(r.Sub(r.Min(high).Max(low)), sum)
		}
		storeFirst16(unsafe.Pointer(&to[j]), 0, sum, tail)
	}
	archsimd.ClearAVXUpperBits()
}

// measureSoft16 is measure16 on one vector of each row at a time.
func measureSoft16(w, v []float32, c, τ float32, index []int32, value []float32, change *Changes) {
	y := len(v)
	p, last := unsafe.Pointer(&w[:y][0]), uint(len(w)-y)
	one := archsimd.BroadcastFloat32x16(c)
	x, high, low := one, archsimd.BroadcastFloat32x16(τ), archsimd.BroadcastFloat32x16(-τ)
	for j := 0; j < y; j += lanes16 {
		tail := first16(y - j)
		from := loadFirst16(unsafe.Pointer(&v[j]), 0, tail)
		for k, row := range index {
			at := uint(int(row) * y)
			if at > last {
				outOfRange(row)
			}
			if value != nil {
				x = one.Mul(archsimd.BroadcastFloat32x16(value[k]))
			}
			r, lanes := unsafe.Add(p, 4*(at+uint(j))), unsafe.Pointer(&change[place(row)])
			b := loadFirst16(r, 0, tail)
			a := x.MulAdd(from, b)
			storeFirst16(r, 0, a, tail)
			b, a = b.Sub(b.Min(high).Max(low)), a.Sub(a.Min(high).Max(low))
			store16(lanes, 0, load16(lanes, 0).Add(a.Sub(b).Mul(a.Add(b))))
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
	x, mask := archsimd.BroadcastFloat32x16(c), first16(lanes16)
	high, low := archsimd.BroadcastFloat32x16(τ), archsimd.BroadcastFloat32x16(-τ)
	var sum archsimd.Float32x16
	for i := 0; i < n; i += lanes16 {
		if i+lanes16 > n {
			mask = first16(n - i)
		}
		b := loadFirst16(to, i, mask)
		a := x.MulAdd(loadFirst16(from, i, mask), b)
		storeFirst16(to, i, a, mask)
		b, a = b.Sub(b.Min(high).Max(low)), a.Sub(a.Min(high).Max(low))
		sum = a.Sub(b).MulAdd(a.Add(b), sum)
	}
	return addUp16(sum)
}
