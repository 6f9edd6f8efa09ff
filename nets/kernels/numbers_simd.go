//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

// avx2Numbers handle eight entries at a time and leave the rest to plainNumbers.
var avx2Numbers = &numberLoops{
	name: "8 lanes",
	Add: func(out, x []float32, y float32) {
		n, all := len(out)&^7, simd.Fill8(y)
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, simd.Get8(x, i).Add(all))
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.Add(out[n:], x[n:], y)
	},
	Mul: func(out, x []float32, y float32) {
		n, all := len(out)&^7, simd.Fill8(y)
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, simd.Get8(x, i).Mul(all))
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.Mul(out[n:], x[n:], y)
	},
	Under: func(out, x []float32, y float32) {
		n, all := len(out)&^7, simd.Fill8(y)
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, simd.Get8(x, i).Div(all))
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.Under(out[n:], x[n:], y)
	},
	From: func(out []float32, y float32, x []float32) {
		n, all := len(out)&^7, simd.Fill8(y)
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, all.Sub(simd.Get8(x, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.From(out[n:], y, x[n:])
	},
	Over: func(out []float32, y float32, x []float32) {
		n, all := len(out)&^7, simd.Fill8(y)
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, all.Div(simd.Get8(x, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.Over(out[n:], y, x[n:])
	},
	Div: func(out, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, simd.Get8(x, i).Div(simd.Get8(y, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.Div(out[n:], x[n:], y[n:])
	},
	Fill: func(out []float32, y float32) {
		n, all := len(out)&^7, simd.Fill8(y)
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, all)
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.Fill(out[n:], y)
	},
	Sum: func(x []float32) float32 {
		var a, b archsimd.Float32x8
		n := len(x) &^ 15
		for i := 0; i < n; i += 16 {
			a, b = a.Add(simd.Get8(x, i)), b.Add(simd.Get8(x, i+8))
		}
		var s [16]float32
		simd.Put8(s[:], 0, a)
		simd.Put8(s[:], 8, b)
		archsimd.ClearAVXUpperBits()
		return total(&s, x[n:])
	},
}
