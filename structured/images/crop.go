package images

import (
	"math"

	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Cropper cuts boxes out of images and resizes them. Its zero value is ready; it keeps scratch memory and serves one
// goroutine at a time.
type Cropper struct {
	row             []float32 // [width×3] of the image, resized along it
	across, upright []taps
}

// taps are the pixels that one pixel of the result averages, along one axis.
type taps struct {
	from    int
	weights []float32
}

// Crop cuts the box out of the image, resizes it to height × width pixels, whatever its aspect, and writes it to dst
// [height×width×3], red, green and blue from 0 to 1. It interpolates linearly where it enlarges and averages with a
// triangular filter where it shrinks. Pixels outside the box do not count, except for the rest of those that its edges
// cut. The box must overlap the image. Of the image one row after the other is resized, so that scratch memory grows
// with its sides alone.
func (c *Cropper) Crop(dst []float32, m *Image, box boxes.Box, height, width int) {
	c.across = resample(c.across, width, box.X, box.Width, m.Width)
	c.upright = resample(c.upright, height, box.Y, box.Height, m.Height)
	c.row = vec.Grow(c.row, 3*width)
	clear(dst[:3*width*height])
	first := 0 // of the rows of the result that average the current row of the image
	for y := c.upright[0].from; first < height; y++ {
		c.along(m, y)
		for out := first; out < height && c.upright[out].from <= y; out++ {
			t := &c.upright[out]
			w, to := t.weights[y-t.from]/255, dst[3*width*out:][:3*width]
			for i, v := range c.row {
				to[i] += w * v
			}
		}
		for first < height && y+1 >= c.upright[first].from+len(c.upright[first].weights) {
			first++
		}
	}
}

// along resizes row y of the image to c.row.
func (c *Cropper) along(m *Image, y int) {
	pixels := m.Pixels[3*y*m.Width:][:3*m.Width]
	for x, t := range c.across {
		var r, g, b float32
		p := pixels[3*t.from:][:3*len(t.weights)]
		for k, w := range t.weights {
			r += w * float32(p[3*k])
			g += w * float32(p[3*k+1])
			b += w * float32(p[3*k+2])
		}
		c.row[3*x], c.row[3*x+1], c.row[3*x+2] = r, g, b
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
