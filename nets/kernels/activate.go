package kernels

import "github.com/dsp-go/dsp/structured/sys/vec"

// Activations that need exponentials, computed block by block. out may be x; e is scratch memory of Block entries.

// Block is how many entries an activation computes at a time, and the size of its scratch memory.
const Block = 256

// ELU is max(x, 0) + (e^min(x, 0) − 1).
func ELU(out, x, e []float32) {
	for at := 0; at < len(out); at += Block {
		part := x[at:min(at+Block, len(out))]
		to := out[at : at+len(part)]
		e := e[:len(part)]
		Rows.negativeParts(e, part)
		vec.Exp(e, e)
		Rows.ELUFromExp(to, part, e)
	}
}

// Tanh is 1 − 2/(e^2x + 1), with an absolute error of a few units in the last place of 1.
func Tanh(out, x, e []float32) {
	for at := 0; at < len(out); at += Block {
		part := x[at:min(at+Block, len(out))]
		to := out[at : at+len(part)]
		e := e[:len(part)]
		Rows.Add(e, part, part)
		vec.Exp(e, e)
		Rows.tanhFromExp(to, e)
	}
}
