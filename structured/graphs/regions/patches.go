package regions

import (
	"math"

	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/images"
)

// Patches appends an image of every region and its surroundings to dst [Count × pixels×pixels×3], red, green and blue from 0 to 1: the square around
// the region's centre whose side is context times that of a square of the mean region's size, resized to pixels × pixels. Beyond the image, its
// outermost pixels are repeated.
func Patches(dst []float32, m *images.Image, p *Partition, pixels int, context float64) []float32 {
	side := context * math.Sqrt(float64(len(p.Of))/float64(p.Count))
	var c images.Cropper
	patch := make([]float32, pixels*pixels*3)
	for _, centre := range p.Centres() {
		c.Crop(patch, m, boxes.Box{X: centre[0] + 0.5 - side/2, Y: centre[1] + 0.5 - side/2, Width: side, Height: side}, pixels, pixels)
		dst = append(dst, patch...)
	}
	return dst
}
