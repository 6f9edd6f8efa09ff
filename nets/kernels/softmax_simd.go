//go:build goexperiment.simd && amd64

package kernels

import (
	"math"
	"simd/archsimd"
)

// The row loops of attention in eight lanes: see softmax.go.

func subtractTop8(x []float32) {
	v := archsimd.BroadcastFloat32x8(float32(math.Inf(-1)))
	for i := 0; i < len(x); i += 8 {
		v = v.Max(load(x, i))
	}
	var lanes [8]float32
	v.Store(&lanes)
	top := max(max(max(lanes[0], lanes[1]), max(lanes[2], lanes[3])), max(max(lanes[4], lanes[5]), max(lanes[6], lanes[7])))
	v = archsimd.BroadcastFloat32x8(top)
	for i := 0; i < len(x); i += 8 {
		store(x, i, load(x, i).Sub(v))
	}
	archsimd.ClearAVXUpperBits()
}

func normalise8(x []float32) {
	var v f32x8
	for i := 0; i < len(x); i += 8 {
		v = v.Add(load(x, i))
	}
	var lanes [8]float32
	v.Store(&lanes)
	v = archsimd.BroadcastFloat32x8(1 / total(&lanes))
	for i := 0; i < len(x); i += 8 {
		store(x, i, load(x, i).Mul(v))
	}
	archsimd.ClearAVXUpperBits()
}

func softmaxPull8(d, p []float32) {
	var v f32x8
	for i := 0; i < len(d); i += 8 {
		v = v.Add(load(d, i).Mul(load(p, i)))
	}
	var lanes [8]float32
	v.Store(&lanes)
	v = archsimd.BroadcastFloat32x8(total(&lanes))
	for i := 0; i < len(d); i += 8 {
		store(d, i, load(p, i).Mul(load(d, i).Sub(v)))
	}
	archsimd.ClearAVXUpperBits()
}

func rotate8(outX, outY, x, y, cos, sin []float32) {
	n := len(outX) &^ 7
	for i := 0; i < n; i += 8 {
		a, b, c, s := load(x, i), load(y, i), load(cos, i), load(sin, i)
		store(outX, i, a.Mul(c).Sub(b.Mul(s)))
		store(outY, i, a.Mul(s).Add(b.Mul(c)))
	}
	archsimd.ClearAVXUpperBits()
	rotate(outX[n:], outY[n:], x[n:], y[n:], cos[n:], sin[n:])
}
