package kernels

import (
	"math"

	"github.com/dsp-go/dsp/structured/vec"
)

// Softmax normalises each row of width entries of p in place: exp(p)/Σ exp(p) over its first n entries, and 0 behind. Width is a
// multiple of 8, and n is at least 1. A NaN or an infinite entry makes its row NaN.
func Softmax(p []float32, n, width int) {
	for at := 0; at < len(p); at += width {
		row := p[at : at+width]
		for i := n; i < width; i++ {
			row[i] = float32(math.Inf(-1))
		}
		Rows.subtractTop(row)
	}
	vec.Exp(p, p)
	for at := 0; at < len(p); at += width {
		Rows.normalise(p[at : at+width])
	}
}

// subtractTop subtracts the largest entry of a row from all of them.
func subtractTop(x []float32) {
	top := x[0]
	for _, v := range x[1:] {
		top = max(top, v)
	}
	for i := range x {
		x[i] -= top
	}
}

// normalise divides a row by its sum, which it adds up in 8 lanes.
func normalise(x []float32) {
	var lanes [8]float32
	for i := 0; i < len(x); i += 8 {
		for l, v := range x[i : i+8] {
			lanes[l] += v
		}
	}
	by := 1 / total(&lanes)
	for i := range x {
		x[i] *= by
	}
}

// softmaxPull sets d to p∘(d − ⟨p, d⟩), for rows of a multiple of 8 entries.
func softmaxPull(d, p []float32) {
	p = p[:len(d)]
	var lanes [8]float32
	for i := 0; i < len(d); i += 8 {
		x, y := d[i:i+8], p[i:i+8]
		for l := range lanes {
			lanes[l] += float32(x[l] * y[l])
		}
	}
	mean := total(&lanes)
	for i := range d {
		d[i] = p[i] * (d[i] - mean)
	}
}

func total(lanes *[8]float32) float32 {
	return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

// rotate turns each pair (x, y) by an angle with the given cosine and sine, in place if outX is x and outY is y.
func rotate(outX, outY, x, y, cos, sin []float32) {
	n := len(outX)
	outY, x, y, cos, sin = outY[:n], x[:n], y[:n], cos[:n], sin[:n]
	for i := range outX {
		a, b := x[i], y[i]
		outX[i] = float32(a*cos[i]) - float32(b*sin[i])
		outY[i] = float32(a*sin[i]) + float32(b*cos[i])
	}
}
