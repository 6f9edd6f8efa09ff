//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"

	"github.com/dsp-go/dsp/structured/sys/instructions"
)

func chooseRows() *rowLoops {
	if instructions.AVX2() {
		return &simdRows
	}
	return &plainRows
}

type f32x8 = archsimd.Float32x8

// load reads eight entries of x, from i on.
func load(x []float32, i int) f32x8 { return archsimd.LoadFloat32x8((*[8]float32)(x[i:])) }

func store(x []float32, i int, v f32x8) { v.Store((*[8]float32)(x[i:])) }

// simdRows handle eight entries at a time and leave the rest to plainRows. They clear the upper halves of the registers at the
// end: dirty upper halves slow down the scalar floating-point code that follows by more than vectors gain.
var simdRows = rowLoops{
	name:         "8 lanes",
	subtractTops: subtractTops8, normalise: normalise8, SoftmaxPull: softmaxPull8, Rotate: rotate8,
	Add: func(out, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			store(out, i, load(x, i).Add(load(y, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.Add(out[n:], x[n:], y[n:])
	},
	Sub: func(out, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			store(out, i, load(x, i).Sub(load(y, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.Sub(out[n:], x[n:], y[n:])
	},
	Mul: func(out, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			store(out, i, load(x, i).Mul(load(y, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.Mul(out[n:], x[n:], y[n:])
	},
	ReLU: func(out, x []float32) {
		n, zero := len(out)&^7, f32x8{}
		for i := 0; i < n; i += 8 {
			store(out, i, zero.Max(load(x, i)).Add(zero)) // Max returns its second argument if one is NaN; −0 + 0 is 0
		}
		archsimd.ClearAVXUpperBits()
		plainRows.ReLU(out[n:], x[n:])
	},
	ELUFromExp: func(out, x, e []float32) {
		n, one := len(out)&^7, archsimd.BroadcastFloat32x8(1)
		for i := 0; i < n; i += 8 {
			store(out, i, positive(load(x, i)).Add(load(e, i).Sub(one)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.ELUFromExp(out[n:], x[n:], e[n:])
	},
	ReLUSlope: func(out, y, g []float32) {
		n, zero := len(out)&^7, f32x8{}
		for i := 0; i < n; i += 8 {
			store(out, i, load(g, i).Masked(load(y, i).NotEqual(zero)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.ReLUSlope(out[n:], y[n:], g[n:])
	},
	ELUSlope: func(out, y, g []float32) {
		n, one := len(out)&^7, archsimd.BroadcastFloat32x8(1)
		for i := 0; i < n; i += 8 {
			store(out, i, load(g, i).Mul(negative(load(y, i)).Add(one)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.ELUSlope(out[n:], y[n:], g[n:])
	},
	TanhSlope: func(out, y, g []float32) {
		n, one := len(out)&^7, archsimd.BroadcastFloat32x8(1)
		for i := 0; i < n; i += 8 {
			v := load(y, i)
			store(out, i, load(g, i).Mul(one.Sub(v.Mul(v))))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.TanhSlope(out[n:], y[n:], g[n:])
	},
	tanhFromExp: func(out, e []float32) {
		n, one, two := len(out)&^7, archsimd.BroadcastFloat32x8(1), archsimd.BroadcastFloat32x8(2)
		for i := 0; i < n; i += 8 {
			store(out, i, one.Sub(two.Div(load(e, i).Add(one))))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.tanhFromExp(out[n:], e[n:])
	},
	negativeParts: func(out, x []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			store(out, i, negative(load(x, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.negativeParts(out[n:], x[n:])
	},
	Max: func(out, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			store(out, i, load(x, i).Max(load(y, i)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.Max(out[n:], x[n:], y[n:])
	},
	Pick: func(out, x, y, d []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			store(out, i, load(d, i).Merge(load(out, i), load(x, i).Equal(load(y, i))))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.Pick(out[n:], x[n:], y[n:], d[n:])
	},
	Take: func(out, left, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			t, v, c := load(y, i), load(x, i), load(left, i)
			store(out, i, c.Masked(v.Equal(t)))
			store(left, i, c.Masked(v.NotEqual(t)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.Take(out[n:], left[n:], x[n:], y[n:])
	},
	PoolMax: func(y, x0, x1, x2, x3 []float32) {
		n := len(y) &^ 7
		for i := 0; i < n; i += 8 {
			store(y, i, load(x0, i).Max(load(x1, i)).Max(load(x2, i).Max(load(x3, i))))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.PoolMax(y[n:], x0[n:], x1[n:], x2[n:], x3[n:])
	},
	PoolPull: func(o0, o1, o2, o3, x0, x1, x2, y, g []float32) {
		n := len(y) &^ 7
		for i := 0; i < n; i += 8 {
			t, c := load(y, i), load(g, i)
			v := load(x0, i)
			store(o0, i, c.Masked(v.Equal(t)))
			c = c.Masked(v.NotEqual(t))
			v = load(x1, i)
			store(o1, i, c.Masked(v.Equal(t)))
			c = c.Masked(v.NotEqual(t))
			v = load(x2, i)
			store(o2, i, c.Masked(v.Equal(t)))
			c = c.Masked(v.NotEqual(t))
			store(o3, i, c)
		}
		archsimd.ClearAVXUpperBits()
		plainRows.PoolPull(o0[n:], o1[n:], o2[n:], o3[n:], x0[n:], x1[n:], x2[n:], y[n:], g[n:])
	},
	PoolPush: func(out, x0, x1, x2, y, d0, d1, d2, d3 []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			t := load(y, i)
			d := load(d2, i).Merge(load(d3, i), load(x2, i).Equal(t))
			d = load(d1, i).Merge(d, load(x1, i).Equal(t))
			store(out, i, load(d0, i).Merge(d, load(x0, i).Equal(t)))
		}
		archsimd.ClearAVXUpperBits()
		plainRows.PoolPush(out[n:], x0[n:], x1[n:], x2[n:], y[n:], d0[n:], d1[n:], d2[n:], d3[n:])
	},
}

// signs is all ones where the sign bit of x is set.
func signs(x f32x8) archsimd.Int32x8 { return x.AsInt32x8().ShiftAllRight(31) }

func negative(x f32x8) f32x8 { return x.AsInt32x8().And(signs(x)).AsFloat32x8() }

func positive(x f32x8) f32x8 { return x.AsInt32x8().AndNot(signs(x)).AsFloat32x8() }
