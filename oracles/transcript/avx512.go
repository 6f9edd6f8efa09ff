//go:build goexperiment.simd && amd64

package transcript

import (
	"math"
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

var avx512 = &kernels{name: "AVX-512", exps: exps16, forward: forward16, backward: backward16, times: times16,
	shift: shift16}

func exps16(to, x []float64, top, scale float64, lo, hi int) {
	pt, px, shift, by, least, round := simd.At(to), simd.At(x), simd.FillDouble16(top), simd.FillDouble16(scale),
		simd.FillDouble16(leastExponent), simd.FillDouble16(rounder)
	for i := lo; i < hi; i += simd.Doubles16 {
		v := simd.LoadDouble16(px, i).Sub(shift).Mul(by)
		shifted := v.MulAdd(simd.FillDouble16(math.Log2E), round)
		n := shifted.Sub(round)
		r := n.MulAdd(simd.FillDouble16(-ln2Lo), n.MulAdd(simd.FillDouble16(-ln2Hi), v))
		q := simd.FillDouble16(taylor12).MulAdd(r, simd.FillDouble16(taylor11)).MulAdd(r, simd.FillDouble16(taylor10)).
			MulAdd(r, simd.FillDouble16(taylor9)).MulAdd(r, simd.FillDouble16(taylor8))
		q = q.MulAdd(r, simd.FillDouble16(taylor7)).MulAdd(r, simd.FillDouble16(taylor6)).
			MulAdd(r, simd.FillDouble16(taylor5)).MulAdd(r, simd.FillDouble16(taylor4))
		q = q.MulAdd(r, simd.FillDouble16(taylor3)).MulAdd(r, simd.FillDouble16(0.5)).MulAdd(r, simd.FillDouble16(1)).
			MulAdd(r, simd.FillDouble16(1))
		simd.StoreDouble16(pt, i, simd.LdexpDouble16(q, shifted).Masked(v.Greater(least)))
	}
	archsimd.ClearAVXUpperBits()
}

func forward16(to, from *both, skip, x []float64, p float64, lo, hi int) float64 {
	tb, ts, fb, fs, ps, px := simd.At(to.blank), simd.At(to.symbol), simd.At(from.blank),
		simd.At(from.symbol), simd.At(skip), simd.At(x)
	blanks, top := simd.FillDouble16(p), simd.FillDouble16(0)
	for i := lo; i < hi; i += simd.Doubles16 {
		b, s, before := simd.LoadDouble16(fb, i), simd.LoadDouble16(fs, i), simd.LoadDouble16(fs, i-1)
		blank, symbol := b.Add(before).Mul(blanks),
			simd.LoadDouble16(ps, i).MulAdd(before, s.Add(b)).Mul(simd.LoadDouble16(px, i))
		simd.StoreDouble16(tb, i, blank)
		simd.StoreDouble16(ts, i, symbol)
		top = top.Max(blank).Max(symbol)
	}
	most := simd.LargestDouble16(top)
	archsimd.ClearAVXUpperBits()
	return most
}

func backward16(to, from *both, skip, x []float64, p float64, lo, hi int) float64 {
	tb, ts, fb, fs, ps, px := simd.At(to.blank), simd.At(to.symbol), simd.At(from.blank),
		simd.At(from.symbol), simd.At(skip), simd.At(x)
	blanks, top := simd.FillDouble16(p), simd.FillDouble16(0)
	for i := lo; i < hi; i += simd.Doubles16 {
		s, next := simd.LoadDouble16(fs, i).Mul(simd.LoadDouble16(px, i)),
			simd.LoadDouble16(fs, i+1).Mul(simd.LoadDouble16(px, i+1))
		blank := simd.LoadDouble16(fb, i).Mul(blanks).Add(s)
		symbol := simd.LoadDouble16(ps, i+1).MulAdd(next, s.Add(simd.LoadDouble16(fb, i+1).Mul(blanks)))
		simd.StoreDouble16(tb, i, blank)
		simd.StoreDouble16(ts, i, symbol)
		top = top.Max(blank).Max(symbol)
	}
	most := simd.LargestDouble16(top)
	archsimd.ClearAVXUpperBits()
	return most
}

func times16(to, x, y []float64, lo, hi int) {
	pt, px, py := simd.At(to), simd.At(x), simd.At(y)
	for i := lo; i < hi; i += simd.Doubles16 {
		simd.StoreDouble16(pt, i, simd.LoadDouble16(px, i).Mul(simd.LoadDouble16(py, i)))
	}
	archsimd.ClearAVXUpperBits()
}

// shift16 ends with the last whole vector, which may begin within the one before.
func shift16(to, x []float32, scale float32) float32 {
	n := len(x) - simd.Singles16
	if n < 0 {
		return shift(to, x, scale)
	}
	pt, px := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0])
	v := simd.Load16(px, n)
	for i := 0; i < n; i += simd.Singles16 {
		v = v.Max(simd.Load16(px, i))
	}
	top := simd.Largest16(v)
	if top > minusInf32 {
		shift, by := simd.Fill16(top), simd.Fill16(scale)
		for i := 0; i < n; i += simd.Singles16 {
			simd.Store16(pt, i, simd.Load16(px, i).Sub(shift).Mul(by))
		}
		simd.Store16(pt, n, simd.Load16(px, n).Sub(shift).Mul(by))
	}
	archsimd.ClearAVXUpperBits()
	return top
}
