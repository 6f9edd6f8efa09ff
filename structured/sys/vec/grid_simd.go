//go:build goexperiment.simd && amd64

package vec

import (
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

// toGrid16 has fewPartials in one vector; beyond the end it adds zeros to them.
func toGrid16(grid, c float64, least, θ, x []float32) Rounded {
	numbers := [...]float64{grid, c, lastBit * grid, tiniest, steepest} // from memory: none is a scalar in the loop
	p := unsafe.Pointer(&numbers)
	var zero, sum, moved, linear, lost archsimd.Float64x8
	step, weight, magic := simd.BroadcastDouble16(p, 0), simd.BroadcastDouble16(p, 1), simd.BroadcastDouble16(p, 2)
	tiny, steep := simd.BroadcastDouble16(p, 3), simd.BroadcastDouble16(p, 4)
	for i := 0; i < len(x); i += 8 {
		in := simd.FirstWidened16(len(x) - i)
		from := simd.LoadFirstWidened16(simd.At(x), i, in)
		below := weight.Mul(simd.LoadFirstWidened16(simd.At(least), i, in))
		l := below.Add(magic).Sub(magic)
		l = l.Add(step).Merge(l, l.Less(below))
		to := from.Add(magic).Sub(magic).Max(l)
		change := to.Sub(from)
		δ := change.Max(zero.Sub(change))
		score := simd.LoadFirstWidened16(simd.At(θ), i, in).Masked(change.NotEqual(zero))
		sum, moved, linear = sum.Add(to), moved.Add(δ), linear.Add(change.Mul(score))
		lost = lost.Add(δ.Mul(δ).Div(from.Sub(below).Max(tiny)).Min(steep.Mul(δ)))
		simd.StoreFirst8(simd.At(x), i, to.ConvertToFloat32(), in)
	}
	return Rounded{totalOf16(sum), totalOf16(moved), totalOf16(linear), totalOf16(lost)}
}

func narrow16(a float64, x []float64, w, to []float32) (float64, float64) {
	var zero, dot, sizes archsimd.Float64x8
	scale, n := simd.FillDouble16(a), len(to)&^7
	for i := 0; i < n; i += 8 {
		v := scale.Mul(simd.LoadDouble16(simd.At(x), i))
		simd.Put8(to, i, v.ConvertToFloat32())
		v = v.Mul(simd.LoadWidened16(simd.At(w), i))
		dot, sizes = dot.Add(v), sizes.Add(v.Max(zero.Sub(v)))
	}
	var d, s fewPartials
	dot.Store((*[8]float64)(&d))
	sizes.Store((*[8]float64)(&s))
	archsimd.ClearAVXUpperBits()
	narrowFrom(&d, &s, n, a, x, w, to)
	return d.total(), s.total()
}

// totalOf16 is fewPartials.total.
func totalOf16(s archsimd.Float64x8) float64 {
	var p fewPartials
	s.Store((*[8]float64)(&p))
	archsimd.ClearAVXUpperBits()
	return p.total()
}

// toGrid8 has fewPartials in two vectors, which take turns: the first of each pair gets the next numbers.
func toGrid8(grid, c float64, least, θ, x []float32) Rounded {
	numbers := [...]float64{grid, c, lastBit * grid, tiniest, steepest} // from memory: none is a scalar in the loop
	p := unsafe.Pointer(&numbers)
	var zero, sum, moved0, moved1, linear0, linear1, lost0, lost1 archsimd.Float64x4
	step, weight, magic := simd.BroadcastDouble8(p, 0), simd.BroadcastDouble8(p, 1), simd.BroadcastDouble8(p, 2)
	tiny, steep := simd.BroadcastDouble8(p, 3), simd.BroadcastDouble8(p, 4)
	for i := 0; i < len(x); i += 4 {
		in := simd.FirstWidened8(len(x) - i)
		from := simd.LoadFirstWidened8(simd.At(x), i, in)
		below := weight.Mul(simd.LoadFirstWidened8(simd.At(least), i, in))
		l := below.Add(magic).Sub(magic)
		l = l.Add(step).Merge(l, l.Less(below))
		to := from.Add(magic).Sub(magic).Max(l)
		change := to.Sub(from)
		δ := change.Max(zero.Sub(change))
		score := simd.LoadFirstWidened8(simd.At(θ), i, in).Masked(change.NotEqual(zero))
		sum = sum.Add(to)
		moved0, moved1 = moved1, moved0.Add(δ)
		linear0, linear1 = linear1, linear0.Add(change.Mul(score))
		lost0, lost1 = lost1, lost0.Add(δ.Mul(δ).Div(from.Sub(below).Max(tiny)).Min(steep.Mul(δ)))
		simd.StoreNarrowedPart8(x[i:], to)
	}
	if (len(x)-1)&7 < 4 { // an odd number of turns
		moved0, moved1, linear0, linear1, lost0, lost1 = moved1, moved0, linear1, linear0, lost1, lost0
	}
	return Rounded{totalOf8(sum, zero), totalOf8(moved0, moved1), totalOf8(linear0, linear1), totalOf8(lost0, lost1)}
}

func narrow8(a float64, x []float64, w, to []float32) (float64, float64) {
	var zero, dot0, dot1, sizes0, sizes1 archsimd.Float64x4
	scale, n := simd.FillDouble8(a), len(to)&^7
	for i := 0; i < n; i += 8 {
		v := scale.Mul(simd.LoadDouble8(simd.At(x), i))
		simd.StoreNarrowed8(simd.At(to), i, v)
		v = v.Mul(simd.LoadWidened8(simd.At(w), i))
		dot0, sizes0 = dot0.Add(v), sizes0.Add(v.Max(zero.Sub(v)))
		v = scale.Mul(simd.LoadDouble8(simd.At(x), i+4))
		simd.StoreNarrowed8(simd.At(to), i+4, v)
		v = v.Mul(simd.LoadWidened8(simd.At(w), i+4))
		dot1, sizes1 = dot1.Add(v), sizes1.Add(v.Max(zero.Sub(v)))
	}
	d, s := few(dot0, dot1), few(sizes0, sizes1)
	narrowFrom(&d, &s, n, a, x, w, to)
	return d.total(), s.total()
}

// few returns fewPartials of two vectors.
func few(low, high archsimd.Float64x4) (p fewPartials) {
	low.Store((*[4]float64)(p[:]))
	high.Store((*[4]float64)(p[4:]))
	archsimd.ClearAVXUpperBits()
	return p
}

// totalOf8 is their total.
func totalOf8(low, high archsimd.Float64x4) float64 {
	p := few(low, high)
	return p.total()
}
