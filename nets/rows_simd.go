//go:build goexperiment.simd && amd64

package nets

import "simd/archsimd"

func chooseRows() *rowLoops {
	if archsimd.X86.AVX2() {
		return &simdRows
	}
	return &plainRows
}

type f32x8 = archsimd.Float32x8

// load reads eight entries of x from i; the caller has checked the length.
func load(x []float32, i int) f32x8 { return archsimd.LoadFloat32x8((*[8]float32)(x[i:])) }

func store(x []float32, i int, v f32x8) { v.Store((*[8]float32)(x[i:])) }

// simdRows take eight entries at a time, and leave the rest to plainRows.
var simdRows = rowLoops{
	name: "8 lanes",
	add: func(out, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			store(out, i, load(x, i).Add(load(y, i)))
		}
		plainRows.add(out[n:], x[n:], y[n:])
	},
	sub: func(out, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			store(out, i, load(x, i).Sub(load(y, i)))
		}
		plainRows.sub(out[n:], x[n:], y[n:])
	},
	mul: func(out, x, y []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			store(out, i, load(x, i).Mul(load(y, i)))
		}
		plainRows.mul(out[n:], x[n:], y[n:])
	},
	relu: func(out, x []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			store(out, i, positive(load(x, i)))
		}
		plainRows.relu(out[n:], x[n:])
	},
	eluFromExp: func(out, x, e []float32) {
		n, one := len(out)&^7, archsimd.BroadcastFloat32x8(1)
		for i := 0; i < n; i += 8 {
			store(out, i, positive(load(x, i)).Add(load(e, i).Sub(one)))
		}
		plainRows.eluFromExp(out[n:], x[n:], e[n:])
	},
	reluSlope: func(out, y, g []float32) {
		n, zero := len(out)&^7, f32x8{}
		for i := 0; i < n; i += 8 {
			store(out, i, load(g, i).Masked(load(y, i).NotEqual(zero)))
		}
		plainRows.reluSlope(out[n:], y[n:], g[n:])
	},
	eluSlope: func(out, y, g []float32) {
		n, one := len(out)&^7, archsimd.BroadcastFloat32x8(1)
		for i := 0; i < n; i += 8 {
			store(out, i, load(g, i).Mul(negative(load(y, i)).Add(one)))
		}
		plainRows.eluSlope(out[n:], y[n:], g[n:])
	},
	tanhSlope: func(out, y, g []float32) {
		n, one := len(out)&^7, archsimd.BroadcastFloat32x8(1)
		for i := 0; i < n; i += 8 {
			v := load(y, i)
			store(out, i, load(g, i).Mul(one.Sub(v.Mul(v))))
		}
		plainRows.tanhSlope(out[n:], y[n:], g[n:])
	},
	negativeParts: func(out, x []float32) {
		n := len(out) &^ 7
		for i := 0; i < n; i += 8 {
			store(out, i, negative(load(x, i)))
		}
		plainRows.negativeParts(out[n:], x[n:])
	},
	poolMax: func(y, x0, x1, x2, x3 []float32) {
		n := len(y) &^ 7
		for i := 0; i < n; i += 8 {
			store(y, i, load(x0, i).Max(load(x1, i)).Max(load(x2, i).Max(load(x3, i))))
		}
		plainRows.poolMax(y[n:], x0[n:], x1[n:], x2[n:], x3[n:])
	},
	poolPull: func(o0, o1, o2, o3, x0, x1, x2, y, g []float32) {
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
		plainRows.poolPull(o0[n:], o1[n:], o2[n:], o3[n:], x0[n:], x1[n:], x2[n:], y[n:], g[n:])
	},
}

// signs is all ones where the sign bit of x is set.
func signs(x f32x8) archsimd.Int32x8 { return x.AsInt32x8().ShiftAllRight(31) }

func negative(x f32x8) f32x8 { return x.AsInt32x8().And(signs(x)).AsFloat32x8() }

func positive(x f32x8) f32x8 { return x.AsInt32x8().AndNot(signs(x)).AsFloat32x8() }
