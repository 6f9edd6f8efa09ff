//go:build goexperiment.simd && amd64

package vec

import (
	"simd/archsimd"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

func scaleOf8(v, unbias, floor archsimd.Float32x8) archsimd.Float32x8 {
	return v.Mul(unbias).Sqrt().Add(floor)
}

// Tails come first, here and below: a scalar that is used after a loop of vectors may be reloaded in it, by an
// instruction that makes some processors wait for longer than the rest of a step takes.
func observe8(β, unbias float32, g, v, q []float32) {
	n := len(q) &^ 7
	observe(β, unbias, g[n:], v[n:], q[n:])
	vβ, fresh, u, one, zero, floor := simd.Fill8(β), simd.Fill8(1-β), simd.Fill8(unbias), simd.Fill8(1), simd.Fill8(0),
		simd.Fill8(Floor)
	for i := 0; i < n; i += 8 {
		x := simd.Get8(g, i)
		y := vβ.Mul(simd.Get8(v, i)).Add(fresh.Mul(x.Mul(x)))
		simd.Put8(v, i, y)
		simd.Put8(q, i, one.Div(scaleOf8(y, u, floor)).Masked(y.NotEqual(zero)))
	}
	archsimd.ClearAVXUpperBits()
}

func observeTempered8(β, unbias, common, shift float32, g, v, q []float32) {
	n := len(q) &^ 7
	observeTempered(β, unbias, common, shift, g[n:], v[n:], q[n:])
	vβ, fresh, u, c, s, one, zero, floor := simd.Fill8(β), simd.Fill8(1-β), simd.Fill8(unbias), simd.Fill8(common),
		simd.Fill8(shift), simd.Fill8(1), simd.Fill8(0), simd.Fill8(Floor)
	for i := 0; i < n; i += 8 {
		x := simd.Get8(g, i)
		y := vβ.Mul(simd.Get8(v, i)).Add(fresh.Mul(x.Mul(x)))
		simd.Put8(v, i, y)
		simd.Put8(q, i, one.Div(scaleOf8(y, u, floor).Mul(c).Sqrt().Add(s)).Masked(y.NotEqual(zero)))
	}
	archsimd.ClearAVXUpperBits()
}

func descend8(a float32, g []float32, b float32, q, w []float32) {
	n, va, vb := len(w)&^7, simd.Fill8(a), simd.Fill8(b)
	for i := 0; i < n; i += 8 {
		x := simd.Get8(w, i)
		simd.Put8(w, i, x.Sub(simd.Get8(q, i).Mul(va.Mul(simd.Get8(g, i)).Add(vb.Mul(x)))))
	}
	archsimd.ClearAVXUpperBits()
	descend(a, g[n:], b, q[n:], w[n:])
}

// decay8 takes the last numbers as part of a vector of their own: rows of tables are short, and an exponential by
// itself takes as long as eight.
func decay8(x float32, v, w []float32) {
	n := len(w) &^ 7
	vx, one, zero, floor := simd.Fill8(-x), simd.Fill8(1), simd.Fill8(0), simd.Fill8(Floor)
	for i := 0; i < n; i += 8 {
		simd.Put8(w, i, decayed8(vx, simd.Get8(v, i), simd.Get8(w, i), one, zero, floor))
	}
	if n < len(w) {
		var ends, scales [8]float32
		copy(ends[:], w[n:])
		copy(scales[:], v[n:])
		simd.Put8(ends[:], 0, decayed8(vx, simd.Get8(scales[:], 0), simd.Get8(ends[:], 0), one, zero, floor))
		copy(w[n:], ends[:])
	}
	archsimd.ClearAVXUpperBits()
}

func decayed8(vx, s, y, one, zero, floor archsimd.Float32x8) archsimd.Float32x8 {
	return y.Mul(exp8(vx.Div(scaleOf8(s, one, floor).Sqrt()))).Merge(y, s.NotEqual(zero))
}

func descendMean8(β, ρ, a float32, g, q, m, w []float32) {
	n, vβ, fresh, vρ, va := len(w)&^7, simd.Fill8(β), simd.Fill8(1-β), simd.Fill8(ρ), simd.Fill8(a)
	for i := 0; i < n; i += 8 {
		y := vβ.Mul(simd.Get8(m, i)).Add(fresh.Mul(simd.Get8(g, i)))
		simd.Put8(m, i, y)
		simd.Put8(w, i, vρ.Mul(simd.Get8(w, i)).Sub(va.Mul(simd.Get8(q, i)).Mul(y)))
	}
	archsimd.ClearAVXUpperBits()
	descendMean(β, ρ, a, g[n:], q[n:], m[n:], w[n:])
}

func dot3By8(x, y, z []float32) float64 {
	n := len(x) &^ 15
	var s0, s1, s2, s3 archsimd.Float64x4
	for i := 0; i < n; i += 16 {
		s0 = product4(x, y, i).MulAdd(simd.GetWidened8(z, i), s0)
		s1 = product4(x, y, i+4).MulAdd(simd.GetWidened8(z, i+4), s1)
		s2 = product4(x, y, i+8).MulAdd(simd.GetWidened8(z, i+8), s2)
		s3 = product4(x, y, i+12).MulAdd(simd.GetWidened8(z, i+12), s3)
	}
	p := (&sums{s0, s1, s2, s3}).partials()
	dot3From(&p, n, x, y, z)
	return p.total()
}

// product4 returns four products, rounded to float32, as float64.
func product4(x, y []float32, i int) archsimd.Float64x4 {
	a, b := archsimd.LoadFloat32x4((*[4]float32)(x[i:])), archsimd.LoadFloat32x4((*[4]float32)(y[i:]))
	return a.Mul(b).ConvertToFloat64()
}
