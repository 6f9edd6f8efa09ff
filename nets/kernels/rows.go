package kernels

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/instructions"
)

// rowLoops are the elementwise loops of networks. out may be one of the arguments. All implementations return the same
// bits.
type rowLoops struct {
	name          string
	Add, Sub, Mul func(out, x, y []float32)
	ReLU          func(out, x []float32)
	ELUFromExp    func(out, x, e []float32) // e is exp(min(x, 0))
	ReLUSlope     func(out, y, g []float32) // g·f', a function of the result y
	ELUSlope      func(out, y, g []float32)
	TanhSlope     func(out, y, g []float32)
	tanhFromExp   func(out, e []float32) // e is exp(2x)
	negativeParts func(out, x []float32)
	Max           func(out, x, y []float32)
	Pick          func(out, x, y, d []float32) // out is d where x equals y, and stays elsewhere
	// out takes left where x equals y, which leaves 0 there; out is 0 elsewhere
	Take     func(out, left, x, y []float32)
	PoolMax  func(y, x0, x1, x2, x3 []float32)
	PoolPull func(o0, o1, o2, o3, x0, x1, x2, y, g []float32)   // g goes to the first x that equals y
	PoolPush func(out, x0, x1, x2, y, d0, d1, d2, d3 []float32) // out is the d of the first x that equals y

	subtractTops, normalise func(x []float32, width int)    // rows of softmax; width is a multiple of 8
	SoftmaxPull             func(d, p []float32, width int) // p∘(d − ⟨p, d⟩) in place of d, row by row
	// pairs of entries turned by an angle: see rotate
	Rotate func(out, x, cos, sin []float32, sign float32)
}

var Rows = instructions.Available(&plainRows, avx2Rows, nil)[0]

// plainRows are the loops in plain Go. They do not branch on values: signs are close to random, and a mispredicted
// branch costs more than all the arithmetic.
var plainRows = rowLoops{
	name:         "plain",
	subtractTops: subtractTops, normalise: normalise, SoftmaxPull: softmaxPull, Rotate: rotate,
	Add: func(out, x, y []float32) {
		x, y = x[:len(out)], y[:len(out)]
		for i := range out {
			out[i] = x[i] + y[i]
		}
	},
	Sub: func(out, x, y []float32) {
		x, y = x[:len(out)], y[:len(out)]
		for i := range out {
			out[i] = x[i] - y[i]
		}
	},
	Mul: func(out, x, y []float32) {
		x, y = x[:len(out)], y[:len(out)]
		for i := range out {
			out[i] = x[i] * y[i]
		}
	},
	ReLU: func(out, x []float32) {
		x = x[:len(out)]
		for i := range out {
			out[i] = max(x[i], 0)
		}
	},
	ELUFromExp: func(out, x, e []float32) {
		x, e = x[:len(out)], e[:len(out)]
		for i := range out {
			out[i] = positivePart(x[i]) + (e[i] - 1)
		}
	},
	ReLUSlope: func(out, y, g []float32) {
		y, g = y[:len(out)], g[:len(out)]
		for i := range out { // y is never negative
			out[i] = math.Float32frombits(math.Float32bits(g[i]) & differs(y[i], 0))
		}
	},
	ELUSlope: func(out, y, g []float32) {
		y, g = y[:len(out)], g[:len(out)]
		for i := range out {
			out[i] = g[i] * (negativePart(y[i]) + 1)
		}
	},
	TanhSlope: func(out, y, g []float32) {
		y, g = y[:len(out)], g[:len(out)]
		for i := range out {
			out[i] = g[i] * (1 - float32(y[i]*y[i]))
		}
	},
	tanhFromExp: func(out, e []float32) {
		e = e[:len(out)]
		for i := range out {
			out[i] = 1 - 2/(e[i]+1)
		}
	},
	negativeParts: func(out, x []float32) {
		x = x[:len(out)]
		for i := range out {
			out[i] = negativePart(x[i])
		}
	},
	Max: func(out, x, y []float32) {
		x, y = x[:len(out)], y[:len(out)]
		for i := range out {
			out[i] = max(x[i], y[i])
		}
	},
	Pick: func(out, x, y, d []float32) {
		x, y, d = x[:len(out)], y[:len(out)], d[:len(out)]
		for i := range out {
			m := differs(x[i], math.Float32bits(y[i]))
			out[i] = math.Float32frombits(math.Float32bits(out[i])&m | math.Float32bits(d[i])&^m)
		}
	},
	Take: func(out, left, x, y []float32) {
		left, x, y = left[:len(out)], x[:len(out)], y[:len(out)]
		for i := range out {
			m, g := differs(x[i], math.Float32bits(y[i])), math.Float32bits(left[i])
			out[i], left[i] = math.Float32frombits(g&^m), math.Float32frombits(g&m)
		}
	},
	PoolMax: func(y, x0, x1, x2, x3 []float32) {
		x0, x1, x2, x3 = x0[:len(y)], x1[:len(y)], x2[:len(y)], x3[:len(y)]
		for i := range y {
			y[i] = max(max(x0[i], x1[i]), max(x2[i], x3[i]))
		}
	},
	PoolPull: func(o0, o1, o2, o3, x0, x1, x2, y, g []float32) {
		n := len(y)
		o0, o1, o2, o3, x0, x1, x2, g = o0[:n], o1[:n], o2[:n], o3[:n], x0[:n], x1[:n], x2[:n], g[:n]
		for i := range y {
			c, t := math.Float32bits(g[i]), math.Float32bits(y[i])
			m0, m1, m2 := differs(x0[i], t), differs(x1[i], t), differs(x2[i], t)
			o0[i] = math.Float32frombits(c &^ m0)
			o1[i] = math.Float32frombits(c & m0 &^ m1)
			o2[i] = math.Float32frombits(c & m0 & m1 &^ m2)
			o3[i] = math.Float32frombits(c & m0 & m1 & m2)
		}
	},
	PoolPush: func(out, x0, x1, x2, y, d0, d1, d2, d3 []float32) {
		n := len(out)
		x0, x1, x2, y, d0, d1, d2, d3 = x0[:n], x1[:n], x2[:n], y[:n], d0[:n], d1[:n], d2[:n], d3[:n]
		for i := range out {
			t := math.Float32bits(y[i])
			m0, m1, m2 := differs(x0[i], t), differs(x1[i], t), differs(x2[i], t)
			d := math.Float32bits(d2[i])&^m2 | math.Float32bits(d3[i])&m2
			d = math.Float32bits(d1[i])&^m1 | d&m1
			out[i] = math.Float32frombits(math.Float32bits(d0[i])&^m0 | d&m0)
		}
	},
}

// negativePart is min(x, 0).
func negativePart(x float32) float32 {
	b := math.Float32bits(x)
	return math.Float32frombits(b & uint32(int32(b)>>31))
}

// positivePart is max(x, 0).
func positivePart(x float32) float32 {
	b := math.Float32bits(x)
	return math.Float32frombits(b &^ uint32(int32(b)>>31))
}

// differs is all ones if the bits of x differ from t, else zero. It does not branch.
func differs(x float32, t uint32) uint32 {
	d := int32(math.Float32bits(x) ^ t)
	return uint32((d | -d) >> 31)
}
