// Package images reads PNG and JPEG images, and computes the inputs of networks from them: crops of boxes resized to a fixed size, and
// features of the cells of a grid, on the image or on a crop, and of regions of any shape.
package images

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	_ "image/jpeg" // for image.Decode
	_ "image/png"
	"io"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// Image is an image in colour.
type Image struct {
	Width, Height int
	Pixels        []uint8 // [Height×Width×3] red, green and blue
}

// MaxPixels is the largest number of pixels that Decode accepts. A file of a few bytes can claim to be a huge image.
const MaxPixels = 1 << 26

// Read reads a PNG or JPEG file.
func Read(path string) (*Image, error) {
	f, err := host.OpenRegular(path)
	if err != nil {
		return nil, structured.BadInput("%w, expected an image", err)
	}
	m, err := Decode(f, path)
	_ = f.Close()
	return m, err
}

// ReadSized reads an image file whose size is known from its annotations. Another size is bad input.
func ReadSized(path string, width, height int) (*Image, error) {
	m, err := Read(path)
	if err == nil && (m.Width != width || m.Height != height) {
		return nil, structured.BadInput("%s: %d × %d pixels, expected %d × %d as its annotations say", path, m.Width, m.Height, width, height)
	}
	return m, err
}

// Size returns the width and the height of a PNG or JPEG file, from its header.
func Size(path string) (width, height int, err error) {
	f, err := host.OpenRegular(path)
	if err != nil {
		return 0, 0, structured.BadInput("%w, expected an image", err)
	}
	width, height, err = SizeOf(f, path)
	_ = f.Close()
	return width, height, err
}

// SizeOf returns the width and the height of a PNG or JPEG image, from its header; name is for messages.
func SizeOf(r io.Reader, name string) (width, height int, err error) {
	c, _, err := image.DecodeConfig(r)
	switch {
	case err != nil:
		return 0, 0, structured.BadInput("%s: %w, expected a PNG or JPEG image", name, err)
	case c.Width < 1 || c.Height < 1:
		return 0, 0, structured.BadInput("%s: %d × %d pixels, expected at least one", name, c.Width, c.Height)
	case c.Width > MaxPixels/c.Height:
		return 0, 0, structured.BadInput("%s: %d × %d pixels, expected at most %d in all", name, c.Width, c.Height, MaxPixels)
	}
	return c.Width, c.Height, nil
}

// Decode decodes a PNG or JPEG image; name is the name of its file, for messages. Transparent parts become white. Of values of 16 bits the upper 8
// are kept.
func Decode(r io.Reader, name string) (*Image, error) {
	var header bytes.Buffer // what the size was read from, to read it again
	if _, _, err := SizeOf(io.TeeReader(r, &header), name); err != nil {
		return nil, err
	}
	decoded, _, err := image.Decode(io.MultiReader(&header, r))
	if err != nil {
		return nil, structured.BadInput("%s: %w: the image is broken or cut off", name, err)
	}
	return Of(decoded), nil
}

// Of converts an image of the standard library. Transparent parts become white.
func Of(from image.Image) *Image {
	bounds := from.Bounds()
	m := &Image{Width: bounds.Dx(), Height: bounds.Dy()}
	flat := image.NewRGBA(image.Rect(0, 0, m.Width, m.Height))
	draw.Draw(flat, flat.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(flat, flat.Rect, from, bounds.Min, draw.Over)
	m.Pixels = make([]uint8, 0, 3*m.Width*m.Height)
	for i := 0; i < len(flat.Pix); i += 4 {
		m.Pixels = append(m.Pixels, flat.Pix[i:i+3]...)
	}
	return m
}

// Image implements image.Image, so that pictures can show m and image/png can encode it.
var _ image.Image = (*Image)(nil)

// ColorModel implements image.Image.
func (m *Image) ColorModel() color.Model { return color.RGBAModel }

// Bounds implements image.Image.
func (m *Image) Bounds() image.Rectangle { return image.Rect(0, 0, m.Width, m.Height) }

// At implements image.Image.
func (m *Image) At(x, y int) color.Color {
	if !image.Pt(x, y).In(m.Bounds()) {
		return color.RGBA{}
	}
	p := m.Pixels[3*(y*m.Width+x):]
	return color.RGBA{p[0], p[1], p[2], 255}
}

// Opaque tells image/png that no alpha is needed.
func (m *Image) Opaque() bool { return true }
