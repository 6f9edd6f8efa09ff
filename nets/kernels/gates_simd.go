//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

// flat is x within ±geluFlat, or NaN: Max and Min return their argument if it is NaN.
func flat(x archsimd.Float32x8) archsimd.Float32x8 {
	return simd.Fill8(geluFlat).Min(simd.Fill8(-geluFlat).Max(x))
}

// avx2Gates handle eight entries at a time and leave the rest to plainGates.
var avx2Gates = &gateLoops{
	name: "8 lanes",
	MulAdd: func(out, a, x, b []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, simd.Get8(a, i).Mul(simd.Get8(x, i)).Add(simd.Get8(b, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainGates.MulAdd(out[n:], a[n:], x[n:], b[n:])
	},
	SigmoidSlope: func(out, y, g []float32) {
		n, one := len(out)&^7, simd.Fill8(1)
		for i := 0; i < n; i += 8 {
			v := simd.Get8(y, i)
			simd.Put8(out, i, simd.Get8(g, i).Mul(v).Mul(one.Sub(v)))
		}
		archsimd.ClearAVXUpperBits()
		plainGates.SigmoidSlope(out[n:], y[n:], g[n:])
	},
	negate: func(out, x []float32) {
		n, zero := len(out)&^7, archsimd.Float32x8{}
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, zero.Sub(simd.Get8(x, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainGates.negate(out[n:], x[n:])
	},
	sigmoidFromExp: func(out, e []float32) {
		n, one := len(out)&^7, simd.Fill8(1)
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, one.Div(one.Add(simd.Get8(e, i))))
		}
		archsimd.ClearAVXUpperBits()
		plainGates.sigmoidFromExp(out[n:], e[n:])
	},
	siluFromExp: func(out, x, e []float32) {
		n, one := len(out)&^7, simd.Fill8(1)
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, simd.Get8(x, i).Div(one.Add(simd.Get8(e, i))))
		}
		archsimd.ClearAVXUpperBits()
		plainGates.siluFromExp(out[n:], x[n:], e[n:])
	},
	siluSlope: func(out, x, g, e []float32) {
		n, one := len(out)&^7, simd.Fill8(1)
		for i := 0; i < n; i += 8 {
			s := one.Div(one.Add(simd.Get8(e, i)))
			simd.Put8(out, i, simd.Get8(g, i).Mul(s.Mul(one.Add(simd.Get8(x, i).Mul(one.Sub(s))))))
		}
		archsimd.ClearAVXUpperBits()
		plainGates.siluSlope(out[n:], x[n:], g[n:], e[n:])
	},
	geluExponent: func(out, x []float32) {
		n, first, third := len(out)&^7, simd.Fill8(gelu1), simd.Fill8(-gelu3)
		for i := 0; i < n; i += 8 {
			v := flat(simd.Get8(x, i))
			simd.Put8(out, i, third.Mul(v.Mul(v)).Sub(first).Mul(v))
		}
		archsimd.ClearAVXUpperBits()
		plainGates.geluExponent(out[n:], x[n:])
	},
	geluSlope: func(out, x, g, e []float32) {
		n, one, first, third := len(out)&^7, simd.Fill8(1), simd.Fill8(gelu1), simd.Fill8(3*gelu3)
		for i := 0; i < n; i += 8 {
			v, s := flat(simd.Get8(x, i)), one.Div(one.Add(simd.Get8(e, i)))
			du := v.Mul(third.Mul(v.Mul(v)).Add(first))
			simd.Put8(out, i, simd.Get8(g, i).Mul(s.Add(s.Mul(one.Sub(s)).Mul(du))))
		}
		archsimd.ClearAVXUpperBits()
		plainGates.geluSlope(out[n:], x[n:], g[n:], e[n:])
	},
	halfSquares: func(out, x []float32) {
		n, by := len(out)&^7, simd.Fill8(-0.5)
		for i := 0; i < n; i += 8 {
			v := simd.Get8(x, i)
			simd.Put8(out, i, v.Mul(v).Mul(by))
		}
		archsimd.ClearAVXUpperBits()
		plainGates.halfSquares(out[n:], x[n:])
	},
	normalPart: func(out, x, e []float32) {
		n, c := len(out)&^7, normalTerms()
		for i := 0; i < n; i += 8 {
			v := simd.Get8(x, i)
			size := sizeOf(v)
			simd.Put8(out, i, positive(v).Sub(size.Mul(c.upper(size, simd.Get8(e, i)))))
		}
		archsimd.ClearAVXUpperBits()
		plainGates.normalPart(out[n:], x[n:], e[n:])
	},
	normalSlope: func(out, x, g, e []float32) {
		n, c, zero, peak := len(out)&^7, normalTerms(), archsimd.Float32x8{}, simd.Fill8(normalPeak)
		for i := 0; i < n; i += 8 {
			v, w := simd.Get8(x, i), simd.Get8(e, i)
			above := c.upper(sizeOf(v), w)
			above = c.one.Sub(above).Merge(above, v.Greater(zero))
			simd.Put8(out, i, simd.Get8(g, i).Mul(above.Add(v.Mul(peak).Mul(w))))
		}
		archsimd.ClearAVXUpperBits()
		plainGates.normalSlope(out[n:], x[n:], g[n:], e[n:])
	},
}

// avx512Gates are avx2Gates but for normalGELU.
var avx512Gates = func() *gateLoops {
	g := *avx2Gates
	g.normalGELU = normalGELU16
	return &g
}()

// normalConstants are the constants of upper.
type normalConstants struct{ one, p, c1, c2, c3, c4, c5 archsimd.Float32x8 }

func normalTerms() normalConstants {
	return normalConstants{simd.Fill8(1), simd.Fill8(normalP), simd.Fill8(normal1), simd.Fill8(normal2),
		simd.Fill8(normal3), simd.Fill8(normal4), simd.Fill8(normal5)}
}

// upper is 1 − Φ(size), from e = exp(−size²/2).
func (c *normalConstants) upper(size, e archsimd.Float32x8) archsimd.Float32x8 {
	t := c.one.Div(c.one.Add(c.p.Mul(size)))
	p := t.Mul(c.c5).Add(c.c4)
	p = p.Mul(t).Add(c.c3)
	p = p.Mul(t).Add(c.c2)
	p = p.Mul(t).Add(c.c1)
	return p.Mul(t).Mul(e)
}

// sizeOf is |x|.
func sizeOf(x archsimd.Float32x8) archsimd.Float32x8 {
	return x.AsInt32x8().And(archsimd.BroadcastInt32x8(0x7fffffff)).AsFloat32x8()
}

// normalGELU16 computes NormalGELU in one pass over whole vectors of 16, with the steps of halfSquares, vec.Exp and
// normalPart, whose constants stay in registers.
func normalGELU16(out, x []float32) int {
	n, by := len(out)&^15, simd.Fill16
	scale, round, hi, lo := by(1.44269504088896341), by(3<<22), by(0.693359375), by(-2.12194440e-4)
	c0, c1, c2 := by(1.9875691500e-4), by(1.3981999507e-3), by(8.3334519073e-3)
	c3, c4, c5 := by(4.1665795894e-2), by(1.6666665459e-1), by(5.0000001201e-1)
	one, low, minusHalf := by(1), by(-87.33654), by(-0.5)
	p, n1, n2, n3, n4, n5 := by(normalP), by(normal1), by(normal2), by(normal3), by(normal4), by(normal5)
	sizes, zero := archsimd.BroadcastInt32x16(0x7fffffff), archsimd.Float32x16{}
	for i := 0; i < n; i += 16 {
		v := simd.Get16(x, i)
		h := v.Mul(v).Mul(minusHalf)
		shifted := h.Mul(scale).Add(round)
		k := shifted.Sub(round)
		r := h.Sub(k.Mul(hi))
		r = r.Sub(k.Mul(lo))
		q := r.Mul(c0).Add(c1)
		q = q.Mul(r).Add(c2)
		q = q.Mul(r).Add(c3)
		q = q.Mul(r).Add(c4)
		q = q.Mul(r).Add(c5)
		q = q.Mul(r.Mul(r)).Add(r).Add(one)
		e := q.AsInt32x16().Add(shifted.AsInt32x16().ShiftAllLeft(23)).AsFloat32x16().Masked(h.GreaterEqual(low))
		size := v.AsInt32x16().And(sizes).AsFloat32x16()
		t := one.Div(one.Add(p.Mul(size)))
		u := t.Mul(n5).Add(n4)
		u = u.Mul(t).Add(n3)
		u = u.Mul(t).Add(n2)
		u = u.Mul(t).Add(n1)
		u = u.Mul(t).Mul(e)
		simd.Put16(out, i, zero.Max(v).Sub(size.Mul(u)))
	}
	archsimd.ClearAVXUpperBits()
	return n
}
