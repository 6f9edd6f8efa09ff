package nets

import (
	"math"

	"github.com/dsp-go/dsp/structured/vec"
)

// The loops of the activations. Out may be an argument; e is scratch memory for a block. No entry takes a branch: signs are as good as random, and a
// mispredicted branch costs more than all the arithmetic.

// block is how many entries go through scratch memory at a time.
const block = 256

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

func relu(out, x, _ []float32) {
	x = x[:len(out)]
	for i := range out {
		out[i] = positivePart(x[i])
	}
}

// reluSlope is g where y > 0, else 0: y is never negative.
func reluSlope(out, y, g []float32) {
	y, g = y[:len(out)], g[:len(out)]
	for i := range out {
		b := int32(math.Float32bits(y[i]))
		out[i] = math.Float32frombits(math.Float32bits(g[i]) & uint32((b|-b)>>31))
	}
}

func elu(out, x, e []float32) {
	for at := 0; at < len(out); at += block {
		part := x[at:min(at+block, len(out))]
		to := out[at : at+len(part)]
		for i, v := range part {
			e[i] = negativePart(v)
		}
		vec.Exp(e[:len(part)], e[:len(part)])
		for i, v := range part {
			to[i] = positivePart(v) + (e[i] - 1)
		}
	}
}

func eluSlope(out, y, g []float32) {
	y, g = y[:len(out)], g[:len(out)]
	for i := range out {
		out[i] = g[i] * (negativePart(y[i]) + 1)
	}
}

// tanh is 1 − 2/(e^2x + 1), which is accurate to a few units of the last place of 1.
func tanh(out, x, e []float32) {
	for at := 0; at < len(out); at += block {
		part := x[at:min(at+block, len(out))]
		to := out[at : at+len(part)]
		for i, v := range part {
			e[i] = 2 * v
		}
		vec.Exp(e[:len(part)], e[:len(part)])
		for i := range part {
			to[i] = 1 - 2/(e[i]+1)
		}
	}
}

func tanhSlope(out, y, g []float32) {
	y, g = y[:len(out)], g[:len(out)]
	for i := range out {
		out[i] = g[i] * (1 - y[i]*y[i])
	}
}

// sigmoid is 1/(1 + e^−x).
func sigmoid(out, x, e []float32) {
	for at := 0; at < len(out); at += block {
		part := x[at:min(at+block, len(out))]
		to := out[at : at+len(part)]
		for i, v := range part {
			e[i] = -v
		}
		vec.Exp(e[:len(part)], e[:len(part)])
		for i := range part {
			to[i] = 1 / (1 + e[i])
		}
	}
}
