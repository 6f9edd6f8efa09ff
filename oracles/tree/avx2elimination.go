//go:build goexperiment.simd && amd64

package tree

import (
	"simd/archsimd"
	"unsafe"
)

func sum4(x []float64) float64 {
	n := len(x) &^ 3
	p := unsafe.Pointer(unsafe.SliceData(x))
	s := archsimd.LoadFloat64x4SlicePart(x[n:])
	for i := 0; i < n; i += 4 {
		s = s.Add(load4(p, i))
	}
	w := s.GetLo().Add(s.GetHi())
	return first2(w.Add(w.SelectFromPair(1, 0, w)))
}

func divide4(x []float64, s float64) {
	n, v := len(x)&^3, fill4(1/s)
	p := unsafe.Pointer(unsafe.SliceData(x))
	for i := 0; i < n; i += 4 {
		store4(p, i, load4(p, i).Mul(v))
	}
	archsimd.LoadFloat64x4SlicePart(x[n:]).Mul(v).StoreSlicePart(x[n:])
	archsimd.ClearAVXUpperBits()
}

// eliminate4 keeps up to four vectors of row k in registers while it iterates over the other rows.
func eliminate4(m, e []float64, ek float64, stride, k, lo, hi int) {
	for i := lo; i < hi; i++ {
		e[i] += m[i*stride+k] * ek
	}
	pm := unsafe.Pointer(unsafe.SliceData(m))
	// A block may overwrite column k, which every later block needs. Only the last block, to the right, does.
	j := lo
	for ; j+12 < hi; j += 16 {
		row := k*stride + j
		r0, r1, r2, r3 := load4(pm, row), load4(pm, row+4), load4(pm, row+8), load4(pm, row+12)
		for i := lo; i < hi; i++ {
			t, at := broadcast4(pm, i*stride+k), i*stride+j
			store4(pm, at, t.MulAdd(r0, load4(pm, at)))
			store4(pm, at+4, t.MulAdd(r1, load4(pm, at+4)))
			store4(pm, at+8, t.MulAdd(r2, load4(pm, at+8)))
			store4(pm, at+12, t.MulAdd(r3, load4(pm, at+12)))
		}
	}
	for ; j+4 < hi; j += 8 {
		row := k*stride + j
		r0, r1 := load4(pm, row), load4(pm, row+4)
		for i := lo; i < hi; i++ {
			t, at := broadcast4(pm, i*stride+k), i*stride+j
			store4(pm, at, t.MulAdd(r0, load4(pm, at)))
			store4(pm, at+4, t.MulAdd(r1, load4(pm, at+4)))
		}
	}
	if j < hi {
		r0 := load4(pm, k*stride+j)
		for i := lo; i < hi; i++ {
			at := i*stride + j
			store4(pm, at, broadcast4(pm, i*stride+k).MulAdd(r0, load4(pm, at)))
		}
	}
	archsimd.ClearAVXUpperBits()
}

func combine4(to, c, g []float64, stride, lanes int) {
	pt, pc, pg := unsafe.Pointer(&to[0]), unsafe.Pointer(unsafe.SliceData(c)), unsafe.Pointer(unsafe.SliceData(g))
	j := 0
	for ; j+4 < lanes; j += 8 {
		s0, s1, at := load4(pt, j), load4(pt, j+4), j
		for i := range c {
			t := broadcast4(pc, i)
			s0 = t.MulAdd(load4(pg, at), s0)
			s1 = t.MulAdd(load4(pg, at+4), s1)
			at += stride
		}
		store4(pt, j, s0)
		store4(pt, j+4, s1)
	}
	if j < lanes {
		var s1 f64x4
		s0, at, i := load4(pt, j), j, 0
		for ; i+1 < len(c); i += 2 {
			s0 = broadcast4(pc, i).MulAdd(load4(pg, at), s0)
			s1 = broadcast4(pc, i+1).MulAdd(load4(pg, at+stride), s1)
			at += 2 * stride
		}
		if i < len(c) {
			s0 = broadcast4(pc, i).MulAdd(load4(pg, at), s0)
		}
		store4(pt, j, s0.Add(s1))
	}
	archsimd.ClearAVXUpperBits()
}
