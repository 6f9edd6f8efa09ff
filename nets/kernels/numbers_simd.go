//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"

	"github.com/dsp-go/dsp/structured/sys/instructions"
)

func chooseNumbers() *numberLoops {
	if instructions.AVX2() {
		return &simdNumbers
	}
	return &plainNumbers
}

// simdNumbers handle eight entries at a time and leave the rest to plainNumbers.
var simdNumbers = numberLoops{
	name: "8 lanes",
	Add: func(out, x []float32, y float32) {
		n, all := len(out)&^7, broadcast(y)
		for i := 0; i < n; i += 8 {
			store(out, i, load(x, i).Add(all))
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.Add(out[n:], x[n:], y)
	},
	Mul: func(out, x []float32, y float32) {
		n, all := len(out)&^7, broadcast(y)
		for i := 0; i < n; i += 8 {
			store(out, i, load(x, i).Mul(all))
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.Mul(out[n:], x[n:], y)
	},
	Under: func(out, x []float32, y float32) {
		n, all := len(out)&^7, broadcast(y)
		for i := 0; i < n; i += 8 {
			store(out, i, load(x, i).Div(all))
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.Under(out[n:], x[n:], y)
	},
	From: func(out []float32, y float32, x []float32) {
		n, all := len(out)&^7, broadcast(y)
		for i := 0; i < n; i += 8 {
			store(out, i, all.Sub(load(x, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.From(out[n:], y, x[n:])
	},
	Over: func(out []float32, y float32, x []float32) {
		n, all := len(out)&^7, broadcast(y)
		for i := 0; i < n; i += 8 {
			store(out, i, all.Div(load(x, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.Over(out[n:], y, x[n:])
	},
	Div: func(out, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			store(out, i, load(x, i).Div(load(y, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.Div(out[n:], x[n:], y[n:])
	},
	Fill: func(out []float32, y float32) {
		n, all := len(out)&^7, broadcast(y)
		for i := 0; i < n; i += 8 {
			store(out, i, all)
		}
		archsimd.ClearAVXUpperBits()
		plainNumbers.Fill(out[n:], y)
	},
	Sum: func(x []float32) float32 {
		var a, b f32x8
		n := len(x) &^ 15
		for i := 0; i < n; i += 16 {
			a, b = a.Add(load(x, i)), b.Add(load(x, i+8))
		}
		var s [16]float32
		store(s[:], 0, a)
		store(s[:], 8, b)
		archsimd.ClearAVXUpperBits()
		return total(&s, x[n:])
	},
}
