//go:build goexperiment.simd && amd64

package chain

import (
	"math"
	"simd/archsimd"
	"unsafe"
)

// logSum16 adds and subtracts scores in float64; the exponentials, whose arguments then fit float32, are float32.
func logSum16(edge []float32, score []float64, w []float32, rate float64) (m, sum float64) {
	e, s, pw := unsafe.Pointer(&edge[0]), unsafe.Pointer(&score[0]), unsafe.Pointer(&w[0])
	top := fillDouble16(math.Inf(-1))
	for j := 0; j < len(score); j += lanes16 {
		lo, hi := loadDouble16(s, j), loadDouble16(s, j+half16)
		el, eh := widen16(load16(e, j))
		top = top.Max(lo.Add(el).Max(hi.Add(eh)))
	}
	shift, most := largestsDouble16(top) // bits, since moves and comparisons of scalars are slow while vector registers are in use
	if most == math.Float64bits(math.Inf(-1)) {
		archsimd.ClearAVXUpperBits()
		return math.Inf(-1), 0
	}
	times, cut := fillDouble16(rate), archsimd.BroadcastFloat32x16(negligible)
	total := zero16
	for from := 0; from < len(score); from += run * lanes16 {
		part, hi := zero16, min(len(score), from+run*lanes16)
		for j := from; j < hi; j += lanes16 {
			lo, hi := loadDouble16(s, j), loadDouble16(s, j+half16)
			el, eh := widen16(load16(e, j))
			x := narrow16(lo.Add(el).Sub(shift).Mul(times), hi.Add(eh).Sub(shift).Mul(times))
			if x.Greater(cut).ToBits() != 0 {
				part = exp16(x).MulAdd(load16(pw, j), part)
			}
		}
		total = total.Add(part)
	}
	single := math.Float32bits(sum16(total))
	archsimd.ClearAVXUpperBits()
	return math.Float64frombits(most), float64(math.Float32frombits(single))
}

func logSpread16(a, b, edge []float32, score []float64, w []float32, m, rate float64, p float32) {
	pa, pb, pw := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&w[0])
	e, s := unsafe.Pointer(&edge[0]), unsafe.Pointer(&score[0])
	shift, times, cut := fillDouble16(m), fillDouble16(rate), archsimd.BroadcastFloat32x16(negligible)
	scale := archsimd.BroadcastFloat32x16(p)
	for j := 0; j < len(score); j += lanes16 {
		lo, hi := loadDouble16(s, j), loadDouble16(s, j+half16)
		el, eh := widen16(load16(e, j))
		x := narrow16(lo.Add(el).Sub(shift).Mul(times), hi.Add(eh).Sub(shift).Mul(times))
		if x.Greater(cut).ToBits() != 0 {
			q := exp16(x).Mul(load16(pw, j).Mul(scale))
			store16(pa, j, load16(pa, j).Add(q))
			store16(pb, j, load16(pb, j).Add(q))
		}
	}
	archsimd.ClearAVXUpperBits()
}
