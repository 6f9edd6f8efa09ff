// Package images reads PNG and JPEG images upright, and computes the inputs of networks from them: crops of boxes
// resized to a fixed size, and features of the cells of a grid, on the image or on a crop, and of regions of any shape.
package images

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/draw"
	_ "image/jpeg" // for image.Decode
	_ "image/png"
	"io"
	"os"

	"github.com/dsp-go/dsp/structured"
)

// Image is an image in colour.
type Image struct {
	Width, Height int
	Pixels        []uint8 // [Height×Width×3] red, green and blue, upright

	Stored Orientation // how its file stores the pixels
}

// MaxPixels is the largest number of pixels that Decode accepts, and MaxSide the longest side: what images become may
// grow with a side alone. A file of a few bytes can claim to be a huge image.
const (
	MaxPixels = 1 << 26
	MaxSide   = 1 << 16
)

// CheckSize refuses an image that is empty, or larger than MaxPixels or MaxSide; name is for messages.
func CheckSize(name string, width, height int) error {
	switch {
	case width < 1 || height < 1:
		return structured.BadInput("%s: %d × %d pixels, expected at least one", name, width, height)
	case max(width, height) > MaxSide:
		return structured.BadInput("%s: %d × %d pixels, expected at most %d along a side", name, width, height, MaxSide)
	case width > MaxPixels/height:
		return structured.BadInput("%s: %d × %d pixels, expected at most %d in all", name, width, height, MaxPixels)
	}
	return nil
}

// Header is what a file says of its image before its pixels.
type Header struct {
	Width, Height int         // in pixels, upright
	Stored        Orientation // how the file stores the pixels
}

// Header returns the header that m's file has.
func (m *Image) Header() Header { return Header{m.Width, m.Height, m.Stored} }

// open opens the file of an image. Files in which one cannot go back, such as pipes, are read.
func open(path string) (io.ReadSeeker, func() error, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, structured.BadInput("%w, expected an image", err)
	}
	if _, err := f.Seek(0, io.SeekCurrent); err == nil {
		return f, f.Close, nil
	}
	content, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, nil, structured.BadInput("%w, expected an image", err)
	}
	return bytes.NewReader(content), func() error { return nil }, nil
}

// Read reads a PNG or JPEG file.
func Read(path string) (*Image, error) {
	f, closed, err := open(path)
	if err != nil {
		return nil, err
	}
	m, err := Decode(f, path)
	_ = closed()
	return m, err
}

// ReadSized reads an image file whose size is known from its annotations. Another size is bad input.
func ReadSized(path string, width, height int) (*Image, error) {
	m, err := Read(path)
	if err == nil && (m.Width != width || m.Height != height) {
		return nil, structured.BadInput("%s: %d × %d pixels, expected %d × %d as its annotations say", path,
			m.Width, m.Height, width, height)
	}
	return m, err
}

// ReadHeader reads the header of a PNG or JPEG file.
func ReadHeader(path string) (Header, error) {
	f, closed, err := open(path)
	if err != nil {
		return Header{}, err
	}
	h, err := HeaderOf(f, path)
	_ = closed()
	return h, err
}

// HeaderOf reads the header of a PNG or JPEG image; name is for messages.
func HeaderOf(r io.ReadSeeker, name string) (Header, error) {
	c, _, err := image.DecodeConfig(r)
	if err != nil {
		return Header{}, structured.BadInput("%s: %w, expected a PNG or JPEG image", name, err)
	}
	if err := CheckSize(name, c.Width, c.Height); err != nil {
		return Header{}, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return Header{}, err
	}
	h := Header{Stored: OrientationOf(r)}
	h.Width, h.Height = h.Stored.Size(c.Width, c.Height)
	return h, nil
}

// Decode decodes a PNG or JPEG image and turns it upright, as its Orientation says; name is the name of its file, for
// messages. Transparent parts become white. Of values of 16 bits the upper 8 are kept.
func Decode(r io.ReadSeeker, name string) (*Image, error) {
	h, err := HeaderOf(r, name)
	if err != nil {
		return nil, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	decoded, _, err := image.Decode(r)
	if err != nil {
		return nil, structured.BadInput("%s: %w: the image is broken or cut off", name, err)
	}
	m := Of(decoded)
	m.Pixels = h.Stored.Turn(m.Pixels, m.Width, m.Height, 3)
	m.Width, m.Height, m.Stored = h.Width, h.Height, h.Stored
	return m, nil
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

func (m *Image) ColorModel() color.Model { return color.RGBAModel }

func (m *Image) Bounds() image.Rectangle { return image.Rect(0, 0, m.Width, m.Height) }

func (m *Image) At(x, y int) color.Color {
	if !image.Pt(x, y).In(m.Bounds()) {
		return color.RGBA{}
	}
	p := m.Pixels[3*(y*m.Width+x):]
	return color.RGBA{p[0], p[1], p[2], 255}
}

// Opaque tells image/png that no alpha is needed.
func (m *Image) Opaque() bool { return true }
