package nets

import "github.com/dsp-go/dsp/structured/vec"

// The activations by way of exponentials, block by block. Out may be x; e is scratch memory for a block.

// block is how many entries go through scratch memory at a time.
const block = 256

// elu is max(x, 0) + (e^min(x, 0) − 1).
func elu(out, x, e []float32) {
	for at := 0; at < len(out); at += block {
		part := x[at:min(at+block, len(out))]
		to := out[at : at+len(part)]
		e := e[:len(part)]
		fast.negativeParts(e, part)
		vec.Exp(e, e)
		fast.eluFromExp(to, part, e)
	}
}

// tanh is 1 − 2/(e^2x + 1), which is accurate to a few units of the last place of 1.
func tanh(out, x, e []float32) {
	for at := 0; at < len(out); at += block {
		part := x[at:min(at+block, len(out))]
		to := out[at : at+len(part)]
		e := e[:len(part)]
		fast.add(e, part, part)
		vec.Exp(e, e)
		fast.tanhFromExp(to, e)
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
