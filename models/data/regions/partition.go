// Package regions divides images into the cells of a grid or into superpixels, finds which of them are neighbours, and
// computes the features of both. The regions are the variables of a graph; a labeling of them becomes a mask again.
package regions

import (
	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/structured"
)

// Partition divides the pixels of an image into regions, numbered from 0. Every region has a pixel.
type Partition struct {
	Width, Height int
	Of            []int32 // [Height×Width] the region of each pixel, row by row
	Count         int     // regions
}

// Grid divides an image into cells of about cell × cell pixels, numbered row by row. If cell does not divide a side of
// the image, the cells are a little longer or shorter along it. The sides are at least 1.
func Grid(width, height, cell int) *Partition {
	columns, rows := parts(width, cell), parts(height, cell)
	p := &Partition{width, height, make([]int32, width*height), rows * columns}
	for y := range height {
		first := y * rows / height * columns
		for x := range width {
			p.Of[y*width+x] = int32(first + x*columns/width)
		}
	}
	return p
}

// parts returns into how many cells a side is divided.
func parts(side, cell int) int { return max(1, (side+cell/2)/cell) }

// sizes returns the number of pixels of each region.
func (p *Partition) sizes() []int {
	n := make([]int, p.Count)
	for _, r := range p.Of {
		n[r]++
	}
	return n
}

// Centres returns the centre of mass of each region in pixels, x before y. The centre of the first pixel is (0, 0).
func (p *Partition) Centres() [][2]float64 {
	c := make([][2]float64, p.Count)
	for i, r := range p.Of {
		c[r][0] += float64(i % p.Width)
		c[r][1] += float64(i / p.Width)
	}
	for r, n := range p.sizes() {
		c[r][0] /= float64(n)
		c[r][1] /= float64(n)
	}
	return c
}

// Paint returns the mask that gives every pixel the label of its region; y [Count] are the labels, negative for void.
func (p *Partition) Paint(y []int32) *masks.Mask {
	m := masks.New(p.Width, p.Height)
	for i, r := range p.Of {
		if y[r] >= 0 {
			m.Labels[i] = uint8(y[r])
		}
	}
	return m
}

// Spread returns for every pixel the number of its region; values has one per region [Count].
func (p *Partition) Spread(values []float32) []float32 {
	out := make([]float32, len(p.Of))
	for i, r := range p.Of {
		out[i] = values[r]
	}
	return out
}

// Count returns how many pixels of each label the regions have in a mask of the image's size, as a sparse matrix with a
// row per region: label l of a row has that number as its value. Void pixels do not count.
func Count(p *Partition, mask *masks.Mask) *structured.Sparse {
	labels := mask.Max() + 1
	counts := make([]int, p.Count*labels)
	for i, r := range p.Of {
		if l := mask.Labels[i]; l != masks.Void {
			counts[int(r)*labels+int(l)]++
		}
	}
	s := &structured.Sparse{Offsets: make([]int, 1, p.Count+1), Value: []float32{}}
	for r := range p.Count {
		for l, n := range counts[r*labels : (r+1)*labels] {
			if n > 0 {
				s.Index, s.Value = append(s.Index, int32(l)), append(s.Value, float32(n))
			}
		}
		s.Offsets = append(s.Offsets, len(s.Index))
	}
	return s
}

// Majority returns the label that most pixels of a row of Count have, the lowest of several, and the number of pixels
// with a label; label −1 if there are none.
func Majority(labels []int32, pixels []float32) (label int32, labelled float32) {
	label = -1
	most := float32(0)
	for k, n := range pixels {
		labelled += n
		if n > most {
			label, most = labels[k], n
		}
	}
	return label, labelled
}
