package kernels

import "github.com/dsp-go/dsp/structured/sys/instructions"

// numberLoops are the elementwise loops of a row and one number y, and of quotients. out may be one of the arguments.
// All implementations return the same bits.
type numberLoops struct {
	name  string
	Add   func(out, x []float32, y float32)           // x + y
	Mul   func(out, x []float32, y float32)           // x·y
	Under func(out, x []float32, y float32)           // x/y
	From  func(out []float32, y float32, x []float32) // y − x
	Over  func(out []float32, y float32, x []float32) // y/x
	Div   func(out, x, y []float32)
	Fill  func(out []float32, y float32)
	Sum   func(x []float32) float32
}

// Numbers are the fastest loops for this processor.
var Numbers = instructions.Available(&plainNumbers, avx2Numbers, nil)[0]

// plainNumbers are the loops in plain Go.
var plainNumbers = numberLoops{
	name: "plain",
	Add: func(out, x []float32, y float32) {
		x = x[:len(out)]
		for i := range out {
			out[i] = x[i] + y
		}
	},
	Mul: func(out, x []float32, y float32) {
		x = x[:len(out)]
		for i := range out {
			out[i] = x[i] * y
		}
	},
	Under: func(out, x []float32, y float32) {
		x = x[:len(out)]
		for i := range out {
			out[i] = x[i] / y
		}
	},
	From: func(out []float32, y float32, x []float32) {
		x = x[:len(out)]
		for i := range out {
			out[i] = y - x[i]
		}
	},
	Over: func(out []float32, y float32, x []float32) {
		x = x[:len(out)]
		for i := range out {
			out[i] = y / x[i]
		}
	},
	Div: func(out, x, y []float32) {
		x, y = x[:len(out)], y[:len(out)]
		for i := range out {
			out[i] = x[i] / y[i]
		}
	},
	Fill: func(out []float32, y float32) {
		for i := range out {
			out[i] = y
		}
	},
	Sum: func(x []float32) float32 {
		var s [16]float32
		n := len(x) &^ 15
		for i := 0; i < n; i += 16 {
			for j, v := range x[i : i+16] {
				s[j] += v
			}
		}
		return total(&s, x[n:])
	},
}

// total adds partial sums and the rest of a row, in one order.
func total(s *[16]float32, rest []float32) float32 {
	for width := 8; width > 0; width /= 2 {
		for j := range width {
			s[j] += s[j+width]
		}
	}
	for _, v := range rest {
		s[0] += v
	}
	return s[0]
}
