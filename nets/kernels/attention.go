package kernels

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Softmax normalises each row of width entries of p in place: exp(p)/Σ exp(p) over its first n entries, and 0 behind.
// Width is a multiple of 8, and n is at least 1. A NaN entry makes its row NaN.
func Softmax(p []float32, n, width int) {
	if n < width {
		for at := 0; at < len(p); at += width {
			for i := at + n; i < at+width; i++ {
				p[i] = float32(math.Inf(-1))
			}
		}
	}
	Rows.subtractTops(p, width)
	vec.Exp(p, p)
	Rows.normalise(p, width)
}

// subtractTops subtracts the largest entry of each row from all of them.
func subtractTops(x []float32, width int) {
	for at := 0; at < len(x); at += width {
		row := x[at : at+width]
		top := row[0]
		for _, v := range row[1:] {
			top = max(top, v)
		}
		for i := range row {
			row[i] -= top
		}
	}
}

// normalise divides each row by its sum, which it adds up in 8 lanes.
func normalise(x []float32, width int) {
	for at := 0; at < len(x); at += width {
		row := x[at : at+width]
		var lanes [8]float32
		for i := 0; i < len(row); i += 8 {
			for l, v := range row[i : i+8] {
				lanes[l] += v
			}
		}
		by := 1 / sumLanes(&lanes)
		for i := range row {
			row[i] *= by
		}
	}
}

// softmaxPull sets each row d to p∘(d − ⟨p, d⟩).
func softmaxPull(d, p []float32, width int) {
	for at := 0; at < len(d); at += width {
		d, p := d[at:at+width], p[at:at+width]
		var lanes [8]float32
		for i := 0; i < len(d); i += 8 {
			x, y := d[i:i+8], p[i:i+8]
			for l := range lanes {
				lanes[l] += float32(x[l] * y[l])
			}
		}
		mean := sumLanes(&lanes)
		for i := range d {
			d[i] = p[i] * (d[i] - mean)
		}
	}
}

func sumLanes(lanes *[8]float32) float32 {
	return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

// rotate turns pairs of entries of each part of x of 2n entries, n = len(cos): x_i and x_{i+n} by the angle with cosine
// cos_i and sine sign·sin_i.
func rotate(out, x, cos, sin []float32, sign float32) {
	n := len(cos)
	sin = sin[:n]
	for at := 0; at < len(out); at += 2 * n {
		x, y, toX, toY := x[at:at+n], x[at+n:at+2*n], out[at:at+n], out[at+n:at+2*n]
		for i, c := range cos {
			a, b, s := x[i], y[i], sign*sin[i]
			toX[i] = float32(a*c) - float32(b*s)
			toY[i] = float32(a*s) + float32(b*c)
		}
	}
}
