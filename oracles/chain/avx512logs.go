//go:build goexperiment.simd && amd64

package chain

import (
	"math"
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

// logSum16 adds and subtracts scores in float64; the exponentials, whose arguments then fit float32, are float32.
func logSum16(edge []float32, score []float64, w []float32, rate float64) (m, sum float64) {
	e, s, pw := unsafe.Pointer(&edge[0]), unsafe.Pointer(&score[0]), unsafe.Pointer(&w[0])
	top := simd.FillDouble16(math.Inf(-1))
	for j := 0; j < len(score); j += simd.Singles16 {
		lo, hi := simd.LoadDouble16(s, j), simd.LoadDouble16(s, j+simd.Doubles16)
		el, eh := simd.Widen16(simd.Load16(e, j))
		top = top.Max(lo.Add(el).Max(hi.Add(eh)))
	}
	shift := simd.LargestsDouble16(top)
	// bits: comparisons of scalars are slow while vector registers are in use
	most := simd.LargestInEachDouble16(top).AsUint64x2().GetElem(0)
	if most == math.Float64bits(math.Inf(-1)) {
		archsimd.ClearAVXUpperBits()
		return math.Inf(-1), 0
	}
	times, cut := simd.FillDouble16(rate), simd.Fill16(negligible)
	var total archsimd.Float32x16
	for from := 0; from < len(score); from += run * simd.Singles16 {
		part, hi := archsimd.Float32x16{}, min(len(score), from+run*simd.Singles16)
		for j := from; j < hi; j += simd.Singles16 {
			lo, hi := simd.LoadDouble16(s, j), simd.LoadDouble16(s, j+simd.Doubles16)
			el, eh := simd.Widen16(simd.Load16(e, j))
			x := simd.Narrow16(lo.Add(el).Sub(shift).Mul(times), hi.Add(eh).Sub(shift).Mul(times))
			if x.Greater(cut).ToBits() != 0 {
				part = exp16(x).MulAdd(simd.Load16(pw, j), part)
			}
		}
		total = total.Add(part)
	}
	single := math.Float32bits(simd.Sum16(total))
	archsimd.ClearAVXUpperBits()
	return math.Float64frombits(most), float64(math.Float32frombits(single))
}

func logSpread16(a, b, edge []float32, score []float64, w []float32, m, rate float64, p float32) {
	pa, pb, pw := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&w[0])
	e, s := unsafe.Pointer(&edge[0]), unsafe.Pointer(&score[0])
	shift, times, cut := simd.FillDouble16(m), simd.FillDouble16(rate), simd.Fill16(negligible)
	scale := simd.Fill16(p)
	for j := 0; j < len(score); j += simd.Singles16 {
		lo, hi := simd.LoadDouble16(s, j), simd.LoadDouble16(s, j+simd.Doubles16)
		el, eh := simd.Widen16(simd.Load16(e, j))
		x := simd.Narrow16(lo.Add(el).Sub(shift).Mul(times), hi.Add(eh).Sub(shift).Mul(times))
		if x.Greater(cut).ToBits() != 0 {
			q := exp16(x).Mul(simd.Load16(pw, j).Mul(scale))
			simd.Store16(pa, j, simd.Load16(pa, j).Add(q))
			simd.Store16(pb, j, simd.Load16(pb, j).Add(q))
		}
	}
	archsimd.ClearAVXUpperBits()
}
