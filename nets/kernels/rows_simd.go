//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

// avx2Rows handle eight entries at a time and leave the rest to plainRows. They clear the upper halves of the registers
// at the end: dirty upper halves slow down the scalar floating-point code that follows by more than vectors gain.
var avx2Rows = &rowLoops{
	name:         "8 lanes",
	subtractTops: subtractTops8, normalise: normalise8, SoftmaxPull: softmaxPull8, Rotate: rotate8,
	Add: func(out, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, simd.Get8(x, i).Add(simd.Get8(y, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.Add(out[n:], x[n:], y[n:])
	},
	Sub: func(out, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, simd.Get8(x, i).Sub(simd.Get8(y, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.Sub(out[n:], x[n:], y[n:])
	},
	Mul: func(out, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, simd.Get8(x, i).Mul(simd.Get8(y, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.Mul(out[n:], x[n:], y[n:])
	},
	ReLU: func(out, x []float32) {
		n, zero := len(out)&^7, archsimd.Float32x8{}
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, zero.Max(simd.Get8(x, i)).Add(zero)) // Max returns its second argument if one is NaN; −0 + 0 is 0
		}
		archsimd.ClearAVXUpperBits()
		plainRows.ReLU(out[n:], x[n:])
	},
	ELUFromExp: func(out, x, e []float32) {
		n, one := len(out)&^7, simd.Fill8(1)
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, positive(simd.Get8(x, i)).Add(simd.Get8(e, i).Sub(one)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.ELUFromExp(out[n:], x[n:], e[n:])
	},
	ReLUSlope: func(out, y, g []float32) {
		n, zero := len(out)&^7, archsimd.Float32x8{}
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, simd.Get8(g, i).Masked(simd.Get8(y, i).NotEqual(zero)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.ReLUSlope(out[n:], y[n:], g[n:])
	},
	ELUSlope: func(out, y, g []float32) {
		n, one := len(out)&^7, simd.Fill8(1)
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, simd.Get8(g, i).Mul(negative(simd.Get8(y, i)).Add(one)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.ELUSlope(out[n:], y[n:], g[n:])
	},
	TanhSlope: func(out, y, g []float32) {
		n, one := len(out)&^7, simd.Fill8(1)
		for i := 0; i < n; i += 8 {
			v := simd.Get8(y, i)
			simd.Put8(out, i, simd.Get8(g, i).Mul(one.Sub(v.Mul(v))))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.TanhSlope(out[n:], y[n:], g[n:])
	},
	tanhFromExp: func(out, e []float32) {
		n, one, two := len(out)&^7, simd.Fill8(1), simd.Fill8(2)
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, one.Sub(two.Div(simd.Get8(e, i).Add(one))))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.tanhFromExp(out[n:], e[n:])
	},
	negativeParts: func(out, x []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, negative(simd.Get8(x, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.negativeParts(out[n:], x[n:])
	},
	Max: func(out, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, simd.Get8(x, i).Max(simd.Get8(y, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.Max(out[n:], x[n:], y[n:])
	},
	Pick: func(out, x, y, d []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			simd.Put8(out, i, simd.Get8(d, i).Merge(simd.Get8(out, i), simd.Get8(x, i).Equal(simd.Get8(y, i))))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.Pick(out[n:], x[n:], y[n:], d[n:])
	},
	Take: func(out, left, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			t, v, c := simd.Get8(y, i), simd.Get8(x, i), simd.Get8(left, i)
			simd.Put8(out, i, c.Masked(v.Equal(t)))
			simd.Put8(left, i, c.Masked(v.NotEqual(t)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.Take(out[n:], left[n:], x[n:], y[n:])
	},
	PoolMax: func(y, x0, x1, x2, x3 []float32) {
		n := len(y) &^ 7
		for i := 0; i < n; i += 8 {
			simd.Put8(y, i, simd.Get8(x0, i).Max(simd.Get8(x1, i)).Max(simd.Get8(x2, i).Max(simd.Get8(x3, i))))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.PoolMax(y[n:], x0[n:], x1[n:], x2[n:], x3[n:])
	},
	PoolPull: func(o0, o1, o2, o3, x0, x1, x2, y, g []float32) {
		n := len(y) &^ 7
		for i := 0; i < n; i += 8 {
			t, c := simd.Get8(y, i), simd.Get8(g, i)
			v := simd.Get8(x0, i)
			simd.Put8(o0, i, c.Masked(v.Equal(t)))
			c = c.Masked(v.NotEqual(t))
			v = simd.Get8(x1, i)
			simd.Put8(o1, i, c.Masked(v.Equal(t)))
			c = c.Masked(v.NotEqual(t))
			v = simd.Get8(x2, i)
			simd.Put8(o2, i, c.Masked(v.Equal(t)))
			c = c.Masked(v.NotEqual(t))
			simd.Put8(o3, i, c)
		}
		archsimd.ClearAVXUpperBits()
		plainRows.PoolPull(o0[n:], o1[n:], o2[n:], o3[n:], x0[n:], x1[n:], x2[n:], y[n:], g[n:])
	},
	PoolPush: func(out, x0, x1, x2, y, d0, d1, d2, d3 []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			t := simd.Get8(y, i)
			d := simd.Get8(d2, i).Merge(simd.Get8(d3, i), simd.Get8(x2, i).Equal(t))
			d = simd.Get8(d1, i).Merge(d, simd.Get8(x1, i).Equal(t))
			simd.Put8(out, i, simd.Get8(d0, i).Merge(d, simd.Get8(x0, i).Equal(t)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.PoolPush(out[n:], x0[n:], x1[n:], x2[n:], y[n:], d0[n:], d1[n:], d2[n:], d3[n:])
	},
}

// signs is all ones where the sign bit of x is set.
func signs(x archsimd.Float32x8) archsimd.Int32x8 { return x.AsInt32x8().ShiftAllRight(31) }

func negative(x archsimd.Float32x8) archsimd.Float32x8 {
	return x.AsInt32x8().And(signs(x)).AsFloat32x8()
}

func positive(x archsimd.Float32x8) archsimd.Float32x8 {
	return x.AsInt32x8().AndNot(signs(x)).AsFloat32x8()
}
