//go:build goexperiment.simd && amd64

package tree

import (
	"math"
	"simd/archsimd"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

func exps4(to, from []float64, shift, scale, factor float64) {
	n := len(from) &^ 3
	pt, pf := simd.At(to), simd.At(from)
	top, times, scaled := simd.FillDouble8(shift), simd.FillDouble8(scale), simd.FillDouble8(factor)
	for i := 0; i < n; i += 4 {
		simd.StoreDouble8(pt, i, exp4(simd.LoadDouble8(pf, i).Sub(top).Mul(times)).Mul(scaled))
	}
	if n < len(from) {
		x := archsimd.LoadFloat64x4SlicePart(from[n:]).Sub(top).Mul(times)
		exp4(x).Mul(scaled).StoreSlicePart(to[n:len(from)])
	}
	archsimd.ClearAVXUpperBits()
}

// exp4 returns exp(x) for x ≤ 0, and 0 below leastExponent: 2ⁿ exp(r) with n = round(x log₂e), |r| ≤ ln2/2, and the
// Taylor polynomial of degree 12.
func exp4(x archsimd.Float64x4) archsimd.Float64x4 {
	round := simd.FillDouble8(3 << 51)
	shifted := x.MulAdd(simd.FillDouble8(math.Log2E), round)
	n := shifted.Sub(round)
	r := n.MulAdd(simd.FillDouble8(-0x1.62e42feep-1), x) // few bits of ln2 make the product exact
	r = n.MulAdd(simd.FillDouble8(-0x1.a39ef35793c76p-33), r)
	p := simd.FillDouble8(1.0 / 479001600)
	p = p.MulAdd(r, simd.FillDouble8(1.0/39916800)).MulAdd(r, simd.FillDouble8(1.0/3628800)).
		MulAdd(r, simd.FillDouble8(1.0/362880))
	p = p.MulAdd(r, simd.FillDouble8(1.0/40320)).MulAdd(r, simd.FillDouble8(1.0/5040)).MulAdd(r, simd.FillDouble8(1.0/720))
	p = p.MulAdd(r, simd.FillDouble8(1.0/120)).MulAdd(r, simd.FillDouble8(1.0/24)).MulAdd(r, simd.FillDouble8(1.0/6))
	p = p.MulAdd(r, simd.FillDouble8(0.5)).MulAdd(r, simd.FillDouble8(1)).MulAdd(r, simd.FillDouble8(1))
	return simd.LdexpDouble8(p, shifted).Masked(x.Greater(simd.FillDouble8(leastExponent)))
}

// run is how many vectors are added one after another, before the sum joins those of other runs. A single float32 sum
// over many relations would err by a unit per vector.
const run = 32

func shares8(to, x []float32, shift, scale float32) float64 {
	n := len(x) &^ 7
	pt, px := simd.At(to), simd.At(x)
	top, times := simd.Fill8(shift), simd.Fill8(scale)
	var sum archsimd.Float32x8
	if n < len(x) {
		v := exp8(archsimd.LoadFloat32x8SlicePart(x[n:]).Sub(top).Mul(times))
		v.StoreSlicePart(to[n:len(x)])
		sum = archsimd.LoadFloat32x8SlicePart(to[n:len(x)])
	}
	for lo := 0; lo < n; lo += 8 * run {
		var part archsimd.Float32x8
		for i := lo; i < min(n, lo+8*run); i += 8 {
			v := exp8(simd.Load8(px, i).Sub(top).Mul(times))
			simd.Store8(pt, i, v)
			part = part.Add(v)
		}
		sum = sum.Add(part)
	}
	return float64(first4(simd.SumInEach8(sum)))
}

// exp8 returns exp(x) to 7 digits for x ≤ 0, and 0 below leastShare: as exp4, with the polynomial of degree 7.
func exp8(x archsimd.Float32x8) archsimd.Float32x8 {
	round := simd.Fill8(3 << 22)
	shifted := x.MulAdd(simd.Fill8(math.Log2E), round)
	n := shifted.Sub(round)
	r := n.MulAdd(simd.Fill8(-0x1.62ep-1), x)
	r = n.MulAdd(simd.Fill8(-(math.Ln2 - 0x1.62ep-1)), r)
	p := simd.Fill8(1.0 / 5040)
	p = p.MulAdd(r, simd.Fill8(1.0/720)).MulAdd(r, simd.Fill8(1.0/120)).MulAdd(r, simd.Fill8(1.0/24)).
		MulAdd(r, simd.Fill8(1.0/6))
	p = p.MulAdd(r, simd.Fill8(0.5)).MulAdd(r, simd.Fill8(1)).MulAdd(r, simd.Fill8(1))
	return p.AsInt32x8().Add(shifted.AsInt32x8().ShiftAllLeft(23)).AsFloat32x8().Masked(x.Greater(simd.Fill8(leastShare)))
}

// largestOfRows8 loads the last vector of a row so that it ends where the row ends.
func largestOfRows8(to, x []float32, width int) {
	if width < 8 {
		largestOfRows(to, x, width)
		return
	}
	p := simd.At(x)
	for i := range to {
		m := simd.Load8(p, i*width+width-8)
		for j := i * width; j < i*width+width-8; j += 8 {
			m = m.Max(simd.Load8(p, j))
		}
		simd.LargestInEach8(m).StoreSlicePart(to[i:]) // the next iterations overwrite the entries after to[i]
	}
	archsimd.ClearAVXUpperBits()
}
