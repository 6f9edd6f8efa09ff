package images

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

// Crops are inputs of positions that are places in images: the pixels of a square around each, then numbers that were
// computed before. They are a structured.FeatureSource that keeps every pixel once, in a byte per colour. Squares
// overlap, so the numbers of all of them would need much more memory; they are cut out whenever they are needed, on a
// device too.
type Crops struct {
	Side   int       // pixels along each side of a square
	Width  int       // other numbers of a position
	Beside []float32 // [positions×Width] these numbers
	// [positions×3] the image of each position, and the column and row of the first pixel of its square, which may lie
	// outside
	At     []int32
	Shapes []int64 // [images×3] the first pixel of each image, its width and its height
	Pixels []uint8 // [pixels×3] red, green and blue of the pixels of all images
}

// Channels is the number of colours of a pixel.
const Channels = 3

// Bytes have the value b/64 − 2, which is exact and has about the spread of a standardised input.
const (
	cropScale  = 1. / 64
	cropOffset = -2
)

// values lists the inputs of the bytes.
var values = func() (v [256]float32) {
	for b := range v {
		v[b] = float32(b)*cropScale + cropOffset
	}
	return v
}()

// Dim returns the number of inputs of a position.
func (c *Crops) Dim() int { return c.Side*c.Side*Channels + c.Width }

// Bytes returns the memory of the pixels.
func (c *Crops) Bytes() int { return len(c.Pixels) }

// Add appends an image and the positions in it. Centres [positions] are in pixels, x before y; the centre of the first
// pixel is (0, 0). Beside [positions×Width] are their other numbers.
func (c *Crops) Add(m *Image, centres [][2]float64, beside []float32) {
	image, half := int32(len(c.Shapes)/3), float64(c.Side)/2
	c.Shapes = append(c.Shapes, int64(len(c.Pixels)/Channels), int64(m.Width), int64(m.Height))
	c.Pixels = append(c.Pixels, m.Pixels...)
	for _, p := range centres {
		c.At = append(c.At, image, first(p[0], half), first(p[1], half))
	}
	c.Beside = append(c.Beside, beside...)
}

// first returns the first of the pixels along an axis around a centre. Of two that are as near, it takes the later one.
func first(centre, half float64) int32 { return int32(math.Floor(centre + 1 - half)) }

// Read implements structured.FeatureSource. Row by row, a position has its pixels, red, green and blue from −2 to 2,
// then its other numbers. Beyond the image, its outermost pixels are repeated.
func (c *Crops) Read(dst []float32, from, to int) error {
	dim := c.Dim()
	for p := from; p < to; p++ {
		out := dst[(p-from)*dim:][:dim]
		copy(out[dim-c.Width:], c.Beside[p*c.Width:(p+1)*c.Width])
		c.cut(out[:dim-c.Width], p)
	}
	return nil
}

// cut writes the pixels around position p.
func (c *Crops) cut(out []float32, p int) {
	image := int(c.At[3*p])
	begin, width, height := int(c.Shapes[3*image]), int(c.Shapes[3*image+1]), int(c.Shapes[3*image+2])
	left, top := int(c.At[3*p+1]), int(c.At[3*p+2])
	row := Channels * c.Side
	for y := range c.Side {
		v := min(max(top+y, 0), height-1)
		line := c.Pixels[Channels*(begin+v*width):][:Channels*width]
		to := out[y*row:][:row]
		if left >= 0 && left+c.Side <= width {
			for k, b := range line[Channels*left:][:row] {
				to[k] = values[b]
			}
			continue
		}
		for x := range c.Side {
			u := Channels * min(max(left+x, 0), width-1)
			to[3*x], to[3*x+1], to[3*x+2] = values[line[u]], values[line[u+1]], values[line[u+2]]
		}
	}
}

// Select implements structured.SelectableSource: it shares the pixels.
func (c *Crops) Select(positions []int) structured.FeatureSource {
	s := &Crops{Side: c.Side, Width: c.Width, Shapes: c.Shapes, Pixels: c.Pixels}
	for _, p := range positions {
		s.At, s.Beside = append(s.At, c.At[3*p:3*p+3]...), append(s.Beside, c.Beside[p*c.Width:(p+1)*c.Width]...)
	}
	return s
}

// Fingerprint implements structured.FeatureSource: by all pixels and numbers.
func (c *Crops) Fingerprint() (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, c.Side, c.Width, c.Shapes)
	h.Write(c.Pixels)
	bytes := make([]byte, 0, 4*(len(c.At)+len(c.Beside)))
	for _, x := range c.At {
		bytes = binary.LittleEndian.AppendUint32(bytes, uint32(x))
	}
	for _, x := range c.Beside {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
	}
	h.Write(bytes)
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

// Resized returns the image resized to width × height pixels, as Crop does it.
func (m *Image) Resized(width, height int) *Image {
	if width == m.Width && height == m.Height {
		return m
	}
	to := &Image{Width: width, Height: height, Pixels: make([]uint8, 0, Channels*width*height)}
	all := make([]float32, Channels*width*height)
	new(Cropper).Crop(all, m, boxes.Box{Width: float64(m.Width), Height: float64(m.Height)}, height, width)
	for _, v := range all {
		to.Pixels = append(to.Pixels, uint8(255*min(max(v, 0), 1)+0.5))
	}
	return to
}
