//go:build goexperiment.simd && amd64

package vec

import "simd/archsimd"

func scaleOf8(v, unbias, floor f32x8) f32x8 { return v.Mul(unbias).Sqrt().Add(floor) }

// Tails come first, here and below: a scalar that is used after a loop of vectors may be reloaded in it, by an instruction that makes some processors
// wait for longer than the rest of a step takes.
func observe8(β, unbias float32, g, v, q []float32) {
	n := len(q) &^ 7
	observe(β, unbias, g[n:], v[n:], q[n:])
	vβ, fresh, u, one, zero, floor := of(β), of(1-β), of(unbias), of(1), of(0), of(Floor)
	for i := 0; i < n; i += 8 {
		x := load(g, i)
		y := vβ.Mul(load(v, i)).Add(fresh.Mul(x.Mul(x)))
		store(v, i, y)
		store(q, i, one.Div(scaleOf8(y, u, floor)).Masked(y.NotEqual(zero)))
	}
	archsimd.ClearAVXUpperBits()
}

func observeTempered8(β, unbias, common, shift float32, g, v, q []float32) {
	n := len(q) &^ 7
	observeTempered(β, unbias, common, shift, g[n:], v[n:], q[n:])
	vβ, fresh, u, c, s, one, zero, floor := of(β), of(1-β), of(unbias), of(common), of(shift), of(1), of(0), of(Floor)
	for i := 0; i < n; i += 8 {
		x := load(g, i)
		y := vβ.Mul(load(v, i)).Add(fresh.Mul(x.Mul(x)))
		store(v, i, y)
		store(q, i, one.Div(scaleOf8(y, u, floor).Mul(c).Sqrt().Add(s)).Masked(y.NotEqual(zero)))
	}
	archsimd.ClearAVXUpperBits()
}

func descend8(a float32, g []float32, b float32, q, w []float32) {
	n, va, vb := len(w)&^7, of(a), of(b)
	for i := 0; i < n; i += 8 {
		x := load(w, i)
		store(w, i, x.Sub(load(q, i).Mul(va.Mul(load(g, i)).Add(vb.Mul(x)))))
	}
	archsimd.ClearAVXUpperBits()
	descend(a, g[n:], b, q[n:], w[n:])
}

func decay8(x float32, v, w []float32) {
	n := len(w) &^ 7
	decay(x, v[n:], w[n:])
	vx, one, zero, floor := of(-x), of(1), of(0), of(Floor)
	for i := 0; i < n; i += 8 {
		s, y := load(v, i), load(w, i)
		store(w, i, y.Mul(exp8(vx.Div(scaleOf8(s, one, floor).Sqrt()))).Merge(y, s.NotEqual(zero)))
	}
	archsimd.ClearAVXUpperBits()
}

func descendMean8(β, ρ, a float32, g, q, m, w []float32) {
	n, vβ, fresh, vρ, va := len(w)&^7, of(β), of(1-β), of(ρ), of(a)
	for i := 0; i < n; i += 8 {
		y := vβ.Mul(load(m, i)).Add(fresh.Mul(load(g, i)))
		store(m, i, y)
		store(w, i, vρ.Mul(load(w, i)).Sub(va.Mul(load(q, i)).Mul(y)))
	}
	archsimd.ClearAVXUpperBits()
	descendMean(β, ρ, a, g[n:], q[n:], m[n:], w[n:])
}

func dot3By8(x, y, z []float32) float64 {
	n := len(x) &^ 15
	var s0, s1, s2, s3 archsimd.Float64x4
	for i := 0; i < n; i += 16 {
		s0 = product4(x, y, i).MulAdd(load4(z, i), s0)
		s1 = product4(x, y, i+4).MulAdd(load4(z, i+4), s1)
		s2 = product4(x, y, i+8).MulAdd(load4(z, i+8), s2)
		s3 = product4(x, y, i+12).MulAdd(load4(z, i+12), s3)
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
