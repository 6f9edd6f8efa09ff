//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"
	"unsafe"
)

// gatherDouble16 keeps up to two vectors of sums in registers while it goes through the rows. The last vector of a row is masked.
func gatherDouble16(to []float64, w []float32, index []int32, value []float32) {
	y := len(to)
	p, last, x := unsafe.Pointer(&w[:y][0]), uint(len(w)-y), archsimd.BroadcastFloat64x8(1)
	for j := 0; j < y; j += 2 * doubles16 {
		n := y - j
		sums, rest := unsafe.Pointer(&to[j]), (n-1)&(doubles16-1)+1
		if n > doubles16 {
			if n > 2*doubles16 {
				rest = doubles16
			}
			tail, narrow := firstDoubles16(rest), narrow16(rest)
			s0, s1 := loadDoubles16(sums, 0), loadFirstDoubles16(sums, doubles16, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = spreadDouble16(unsafe.Pointer(&value[k]), 0)
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				s0 = x.MulAdd(widen16(r, 0), s0)
				s1 = x.MulAdd(widenFirst16(r, doubles16, narrow), s1)
			}
			storeDoubles16(sums, 0, s0)
			storeFirstDoubles16(sums, doubles16, s1, tail)
		} else {
			tail, narrow := firstDoubles16(rest), narrow16(rest)
			s0 := loadFirstDoubles16(sums, 0, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = spreadDouble16(unsafe.Pointer(&value[k]), 0)
				}
				s0 = x.MulAdd(widenFirst16(unsafe.Add(p, 4*(at+uint(j))), 0, narrow), s0)
			}
			storeFirstDoubles16(sums, 0, s0, tail)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// scatterDouble16 keeps up to two vectors of v in registers while it goes through the rows. The last vector of a row is masked.
func scatterDouble16(to, v []float64, index []int32, value []float32) {
	y := len(v)
	p, last, x := unsafe.Pointer(&to[:y][0]), uint(len(to)-y), archsimd.BroadcastFloat64x8(1)
	for j := 0; j < y; j += 2 * doubles16 {
		n := y - j
		from, tail := unsafe.Pointer(&v[j]), firstDoubles16((n-1)&(doubles16-1)+1)
		if n > doubles16 {
			if n > 2*doubles16 {
				tail = firstDoubles16(doubles16)
			}
			v0, v1 := loadDoubles16(from, 0), loadFirstDoubles16(from, doubles16, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = spreadDouble16(unsafe.Pointer(&value[k]), 0)
				}
				r := unsafe.Add(p, 8*(at+uint(j)))
				storeDoubles16(r, 0, x.MulAdd(v0, loadDoubles16(r, 0)))
				storeFirstDoubles16(r, doubles16, x.MulAdd(v1, loadFirstDoubles16(r, doubles16, tail)), tail)
			}
		} else {
			v0 := loadFirstDoubles16(from, 0, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = spreadDouble16(unsafe.Pointer(&value[k]), 0)
				}
				r := unsafe.Add(p, 8*(at+uint(j)))
				storeFirstDoubles16(r, 0, x.MulAdd(v0, loadFirstDoubles16(r, 0, tail)), tail)
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}
