//go:build goexperiment.simd && amd64

package transcript

import (
	"math"
	"simd/archsimd"
	"unsafe"
)

var avx512 = kernels{name: "AVX-512", exps: exps16, forward: forward16, backward: backward16, times: times16, shift: shift16}

func exps16(to, x []float64, top, scale float64, lo, hi int) {
	pt, px, shift, by, least, round := at(to), at(x), fill16(top), fill16(scale), fill16(leastExponent), fill16(rounder)
	for i := lo; i < hi; i += half16 {
		v := load16(px, i).Sub(shift).Mul(by)
		shifted := v.MulAdd(fill16(math.Log2E), round)
		n := shifted.Sub(round)
		r := n.MulAdd(fill16(-ln2Lo), n.MulAdd(fill16(-ln2Hi), v))
		q := fill16(taylor12).MulAdd(r, fill16(taylor11)).MulAdd(r, fill16(taylor10)).MulAdd(r, fill16(taylor9)).MulAdd(r, fill16(taylor8))
		q = q.MulAdd(r, fill16(taylor7)).MulAdd(r, fill16(taylor6)).MulAdd(r, fill16(taylor5)).MulAdd(r, fill16(taylor4))
		q = q.MulAdd(r, fill16(taylor3)).MulAdd(r, fill16(0.5)).MulAdd(r, fill16(1)).MulAdd(r, fill16(1))
		store16(pt, i, power16(q, shifted).Masked(v.Greater(least)))
	}
	archsimd.ClearAVXUpperBits()
}

func forward16(to, from *both, skip, x []float64, p float64, lo, hi int) float64 {
	tb, ts, fb, fs, ps, px := at(to.blank), at(to.symbol), at(from.blank), at(from.symbol), at(skip), at(x)
	blanks, top := fill16(p), fill16(0)
	for i := lo; i < hi; i += half16 {
		b, s, before := load16(fb, i), load16(fs, i), load16(fs, i-1)
		blank, symbol := b.Add(before).Mul(blanks), load16(ps, i).MulAdd(before, s.Add(b)).Mul(load16(px, i))
		store16(tb, i, blank)
		store16(ts, i, symbol)
		top = top.Max(blank).Max(symbol)
	}
	most := largest16(top)
	archsimd.ClearAVXUpperBits()
	return most
}

func backward16(to, from *both, skip, x []float64, p float64, lo, hi int) float64 {
	tb, ts, fb, fs, ps, px := at(to.blank), at(to.symbol), at(from.blank), at(from.symbol), at(skip), at(x)
	blanks, top := fill16(p), fill16(0)
	for i := lo; i < hi; i += half16 {
		s, next := load16(fs, i).Mul(load16(px, i)), load16(fs, i+1).Mul(load16(px, i+1))
		blank := load16(fb, i).Mul(blanks).Add(s)
		symbol := load16(ps, i+1).MulAdd(next, s.Add(load16(fb, i+1).Mul(blanks)))
		store16(tb, i, blank)
		store16(ts, i, symbol)
		top = top.Max(blank).Max(symbol)
	}
	most := largest16(top)
	archsimd.ClearAVXUpperBits()
	return most
}

func times16(to, x, y []float64, lo, hi int) {
	pt, px, py := at(to), at(x), at(y)
	for i := lo; i < hi; i += half16 {
		store16(pt, i, load16(px, i).Mul(load16(py, i)))
	}
	archsimd.ClearAVXUpperBits()
}

// shift16 ends with the last whole vector, which may begin within the one before.
func shift16(to, x []float32, scale float32) float32 {
	n := len(x) - lanes16
	if n < 0 {
		return shift(to, x, scale)
	}
	pt, px := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0])
	v := loadSingle16(px, n)
	for i := 0; i < n; i += lanes16 {
		v = v.Max(loadSingle16(px, i))
	}
	top := largestSingle16(v)
	if top > minusInf32 {
		shift, by := fillSingle16(top), fillSingle16(scale)
		for i := 0; i < n; i += lanes16 {
			storeSingle16(pt, i, loadSingle16(px, i).Sub(shift).Mul(by))
		}
		storeSingle16(pt, n, loadSingle16(px, n).Sub(shift).Mul(by))
	}
	archsimd.ClearAVXUpperBits()
	return top
}
