//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

// gatherDouble16 keeps up to two vectors of sums in registers while it goes through the rows. The last vector of a row
// is masked.
func gatherDouble16(to []float64, w []float32, index []int32, value []float32) {
	y := len(to)
	p, last, x := unsafe.Pointer(&w[:y][0]), uint(len(w)-y), simd.FillDouble16(1)
	for j := 0; j < y; j += 2 * simd.Doubles16 {
		n := y - j
		sums, rest := unsafe.Pointer(&to[j]), (n-1)&(simd.Doubles16-1)+1
		if n > simd.Doubles16 {
			if n > 2*simd.Doubles16 {
				rest = simd.Doubles16
			}
			tail, narrow := simd.FirstDouble16(rest), simd.FirstWidened16(rest)
			s0, s1 := simd.LoadDouble16(sums, 0), simd.LoadFirstDouble16(sums, simd.Doubles16, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = simd.BroadcastWidened16(unsafe.Pointer(&value[k]), 0)
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				s0 = x.MulAdd(simd.LoadWidened16(r, 0), s0)
				s1 = x.MulAdd(simd.LoadFirstWidened16(r, simd.Doubles16, narrow), s1)
			}
			simd.StoreDouble16(sums, 0, s0)
			simd.StoreFirstDouble16(sums, simd.Doubles16, s1, tail)
		} else {
			tail, narrow := simd.FirstDouble16(rest), simd.FirstWidened16(rest)
			s0 := simd.LoadFirstDouble16(sums, 0, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = simd.BroadcastWidened16(unsafe.Pointer(&value[k]), 0)
				}
				s0 = x.MulAdd(simd.LoadFirstWidened16(unsafe.Add(p, 4*(at+uint(j))), 0, narrow), s0)
			}
			simd.StoreFirstDouble16(sums, 0, s0, tail)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// scatterDouble16 keeps up to two vectors of v in registers while it goes through the rows. The last vector of a row is
// masked.
func scatterDouble16(to, v []float64, index []int32, value []float32) {
	y := len(v)
	p, last, x := unsafe.Pointer(&to[:y][0]), uint(len(to)-y), simd.FillDouble16(1)
	for j := 0; j < y; j += 2 * simd.Doubles16 {
		n := y - j
		from, tail := unsafe.Pointer(&v[j]), simd.FirstDouble16((n-1)&(simd.Doubles16-1)+1)
		if n > simd.Doubles16 {
			if n > 2*simd.Doubles16 {
				tail = simd.FirstDouble16(simd.Doubles16)
			}
			v0, v1 := simd.LoadDouble16(from, 0), simd.LoadFirstDouble16(from, simd.Doubles16, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = simd.BroadcastWidened16(unsafe.Pointer(&value[k]), 0)
				}
				r := unsafe.Add(p, 8*(at+uint(j)))
				simd.StoreDouble16(r, 0, x.MulAdd(v0, simd.LoadDouble16(r, 0)))
				simd.StoreFirstDouble16(r, simd.Doubles16, x.MulAdd(v1, simd.LoadFirstDouble16(r, simd.Doubles16, tail)), tail)
			}
		} else {
			v0 := simd.LoadFirstDouble16(from, 0, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = simd.BroadcastWidened16(unsafe.Pointer(&value[k]), 0)
				}
				r := unsafe.Add(p, 8*(at+uint(j)))
				simd.StoreFirstDouble16(r, 0, x.MulAdd(v0, simd.LoadFirstDouble16(r, 0, tail)), tail)
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}
