//go:build goexperiment.simd && amd64

package tree

import (
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

func sum4(x []float64) float64 {
	n := len(x) &^ 3
	p := simd.At(x)
	s := archsimd.LoadFloat64x4SlicePart(x[n:])
	for i := 0; i < n; i += 4 {
		s = s.Add(simd.LoadDouble8(p, i))
	}
	return first2(simd.SumInEachDouble8(s))
}

func divide4(x []float64, s float64) {
	n, v := len(x)&^3, simd.FillDouble8(1/s)
	p := simd.At(x)
	for i := 0; i < n; i += 4 {
		simd.StoreDouble8(p, i, simd.LoadDouble8(p, i).Mul(v))
	}
	archsimd.LoadFloat64x4SlicePart(x[n:]).Mul(v).StoreSlicePart(x[n:])
	archsimd.ClearAVXUpperBits()
}

// eliminate4 keeps up to four vectors of row k in registers while it iterates over the other rows.
func eliminate4(m, e []float64, ek float64, stride, k, lo, hi int) {
	for i := lo; i < hi; i++ {
		e[i] += m[i*stride+k] * ek
	}
	pm := simd.At(m)
	// A block may overwrite column k, which every later block needs. Only the last block, to the right, does.
	j := lo
	for ; j+12 < hi; j += 16 {
		row := k*stride + j
		r0, r1, r2, r3 := simd.LoadDouble8(pm, row), simd.LoadDouble8(pm, row+4), simd.LoadDouble8(pm, row+8),
			simd.LoadDouble8(pm, row+12)
		for i := lo; i < hi; i++ {
			t, at := simd.BroadcastDouble8(pm, i*stride+k), i*stride+j
			simd.StoreDouble8(pm, at, t.MulAdd(r0, simd.LoadDouble8(pm, at)))
			simd.StoreDouble8(pm, at+4, t.MulAdd(r1, simd.LoadDouble8(pm, at+4)))
			simd.StoreDouble8(pm, at+8, t.MulAdd(r2, simd.LoadDouble8(pm, at+8)))
			simd.StoreDouble8(pm, at+12, t.MulAdd(r3, simd.LoadDouble8(pm, at+12)))
		}
	}
	for ; j+4 < hi; j += 8 {
		row := k*stride + j
		r0, r1 := simd.LoadDouble8(pm, row), simd.LoadDouble8(pm, row+4)
		for i := lo; i < hi; i++ {
			t, at := simd.BroadcastDouble8(pm, i*stride+k), i*stride+j
			simd.StoreDouble8(pm, at, t.MulAdd(r0, simd.LoadDouble8(pm, at)))
			simd.StoreDouble8(pm, at+4, t.MulAdd(r1, simd.LoadDouble8(pm, at+4)))
		}
	}
	if j < hi {
		r0 := simd.LoadDouble8(pm, k*stride+j)
		for i := lo; i < hi; i++ {
			at := i*stride + j
			simd.StoreDouble8(pm, at, simd.BroadcastDouble8(pm, i*stride+k).MulAdd(r0, simd.LoadDouble8(pm, at)))
		}
	}
	archsimd.ClearAVXUpperBits()
}

func combine4(to, c, g []float64, stride, lanes int) {
	pt, pc, pg := unsafe.Pointer(&to[0]), simd.At(c), simd.At(g)
	j := 0
	for ; j+4 < lanes; j += 8 {
		s0, s1, at := simd.LoadDouble8(pt, j), simd.LoadDouble8(pt, j+4), j
		for i := range c {
			t := simd.BroadcastDouble8(pc, i)
			s0 = t.MulAdd(simd.LoadDouble8(pg, at), s0)
			s1 = t.MulAdd(simd.LoadDouble8(pg, at+4), s1)
			at += stride
		}
		simd.StoreDouble8(pt, j, s0)
		simd.StoreDouble8(pt, j+4, s1)
	}
	if j < lanes {
		var s1 archsimd.Float64x4
		s0, at, i := simd.LoadDouble8(pt, j), j, 0
		for ; i+1 < len(c); i += 2 {
			s0 = simd.BroadcastDouble8(pc, i).MulAdd(simd.LoadDouble8(pg, at), s0)
			s1 = simd.BroadcastDouble8(pc, i+1).MulAdd(simd.LoadDouble8(pg, at+stride), s1)
			at += 2 * stride
		}
		if i < len(c) {
			s0 = simd.BroadcastDouble8(pc, i).MulAdd(simd.LoadDouble8(pg, at), s0)
		}
		simd.StoreDouble8(pt, j, s0.Add(s1))
	}
	archsimd.ClearAVXUpperBits()
}
