package images

import (
	"math"

	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/machine/vec"
)

// Cropper cuts boxes out of images and resizes them. Its zero value is ready; it keeps scratch memory and serves one goroutine at a time.
type Cropper struct {
	rows            []float32
	across, upright []taps
}

// taps are the pixels that one pixel of the result averages, along one axis.
type taps struct {
	from    int
	weights []float32
}

// Crop cuts the box out of the image, resizes it to height × width pixels, whatever its aspect, and writes it to dst
// [height×width×3], red, green and blue from 0 to 1. It interpolates linearly where it enlarges and averages with a triangular filter
// where it shrinks. Pixels outside the box do not count, except for the rest of those that its edges cut. The box must overlap the image.
func (c *Cropper) Crop(dst []float32, m *Image, box boxes.Box, height, width int) {
	c.across = resample(c.across, width, box.X, box.Width, m.Width)
	c.upright = resample(c.upright, height, box.Y, box.Height, m.Height)
	first, last := c.upright[0].from, 0
	for _, t := range c.upright {
		last = max(last, t.from+len(t.weights))
	}
	row := 3 * width
	c.rows = vec.Grow(c.rows, (last-first)*row)
	for y := first; y < last; y++ { // first along the rows, then along the columns
		out, pixels := c.rows[(y-first)*row:][:row], m.Pixels[3*y*m.Width:][:3*m.Width]
		for x, t := range c.across {
			var r, g, b float32
			p := pixels[3*t.from:][:3*len(t.weights)]
			for k, w := range t.weights {
				r += w * float32(p[3*k])
				g += w * float32(p[3*k+1])
				b += w * float32(p[3*k+2])
			}
			out[3*x], out[3*x+1], out[3*x+2] = r, g, b
		}
	}
	for y, t := range c.upright {
		out := dst[y*row:][:row]
		clear(out)
		for k, w := range t.weights {
			w /= 255
			for i, v := range c.rows[(t.from+k-first)*row:][:row] {
				out[i] += w * v
			}
		}
	}
}

// resample returns the taps of n pixels that cover the interval from start to start+size on an axis of length pixels.
func resample(all []taps, n int, start, size float64, length int) []taps {
	for len(all) < n {
		all = append(all, taps{})
	}
	all = all[:n]
	first := min(max(int(math.Floor(start)), 0), length-1)
	last := min(max(int(math.Ceil(start+size)), first+1), length)
	step := size / float64(n)
	reach := max(step, 1)
	for i := range all {
		centre := start + (float64(i)+0.5)*step
		from := min(max(int(math.Floor(centre-reach+0.5)), first), last-1)
		to := max(min(int(math.Floor(centre+reach+0.5)), last), from+1)
		t := &all[i]
		t.from, t.weights = from, t.weights[:0]
		sum := 0.0
		for x := from; x < to; x++ {
			w := max(0, 1-math.Abs(float64(x)+0.5-centre)/reach)
			t.weights = append(t.weights, float32(w))
			sum += w
		}
		if sum == 0 { // rounding left only the nearest pixel, with weight 0
			t.weights[0], sum = 1, 1
		}
		for k := range t.weights {
			t.weights[k] /= float32(sum)
		}
	}
	return all
}
