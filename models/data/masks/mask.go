// Package masks reads and writes masks: PNG images whose pixels are labels. It has the colours of labels, and paints
// them over images.
package masks

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Void is the label of pixels that count nowhere.
const Void = graphs.Void

// MaxLabels is the largest number of labels: 0 to 254.
const MaxLabels = Void

// Mask holds the label of every pixel of an image.
type Mask struct {
	Width, Height int
	Labels        []uint8       // [Height×Width], row by row; Void where there is none
	Palette       color.Palette // the labels' colours; nil for a mask whose file has labels as grey values

	Stored    images.Orientation // how its file stores the pixels
	WithImage bool               // it has no EXIF of its own, and was turned upright as its image was (Fit)
}

// New returns a mask without labels, in the colours of Palette.
func New(width, height int) *Mask {
	m := &Mask{Width: width, Height: height, Labels: make([]uint8, width*height), Palette: Palette()}
	for i := range m.Labels {
		m.Labels[i] = Void
	}
	return m
}

// Read reads a PNG file.
func Read(path string) (*Mask, error) {
	f, err := host.OpenRegular(path)
	if err != nil {
		return nil, structured.BadInput("%w, expected a mask", err)
	}
	m, err := Decode(f, path)
	return m, errors.Join(err, f.Close())
}

// expected ends messages about files of other kinds.
const expected = "expected a mask: a PNG image with a palette or grey values, without transparency"

// HeaderOf reads the header of the PNG file of a mask; name is for messages.
func HeaderOf(content []byte, name string) (images.Header, error) {
	if _, err := png.DecodeConfig(bytes.NewReader(content)); err != nil {
		return images.Header{}, structured.BadInput("%s: %w, %s", name, err, expected)
	}
	return images.HeaderOf(bytes.NewReader(content), name)
}

// Decode decodes a PNG image with a palette, whose indices are the labels, or with grey values, which are the labels,
// and turns it upright as images are turned. Values.Read gives labels to other values. name is the name of its file,
// for messages.
func Decode(r io.Reader, name string) (*Mask, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, structured.BadInput("%s: %w", name, err)
	}
	header, err := HeaderOf(content, name)
	if err != nil {
		return nil, err
	}
	decoded, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, structured.BadInput("%s: %w: the mask is broken or cut off", name, err)
	}
	bounds := decoded.Bounds()
	m := &Mask{Width: bounds.Dx(), Height: bounds.Dy()}
	switch p := decoded.(type) {
	case *image.Paletted:
		m.Palette = p.Palette
		m.copy(p.Pix, p.Stride)
	case *image.Gray:
		m.copy(p.Pix, p.Stride)
		// The decoder stretches values of fewer bits to 8.
		const depthAt = 24 // of the bit depth: after the signature, and the length, name, width and height of the first chunk
		if depth := content[depthAt]; depth < 8 {
			stretch := uint8(255 / (1<<depth - 1))
			for i := range m.Labels {
				m.Labels[i] /= stretch
			}
		}
	case *image.Gray16:
		m.Labels = make([]uint8, 0, m.Width*m.Height)
		for y := range m.Height {
			for x := range m.Width {
				l := p.Gray16At(x, y).Y
				if l > Void && l != math.MaxUint16 { // which is white, as 255 is
					return nil, structured.BadInput("%s: the pixel at x %d, y %d has the value %d, expected at "+
						"most 255, or 65535 for 255", name, x, y, l)
				}
				m.Labels = append(m.Labels, uint8(min(l, Void)))
			}
		}
	default:
		if err := m.copyGreys(decoded, name); err != nil {
			return nil, err
		}
	}
	m.turn(header.Stored)
	return m, nil
}

// turn turns the mask as pixels that are stored in this way are turned upright.
func (m *Mask) turn(stored images.Orientation) {
	m.Labels = stored.Turn(m.Labels, m.Width, m.Height, 1)
	m.Width, m.Height = stored.Size(m.Width, m.Height)
	m.Stored = stored
}

// Fit turns a mask that was made of an image as its file stores it, and not upright: one of the size before the image
// was turned, which does not say itself how it is stored. Another size than the image's is bad input; name and of are
// the names of their files, for messages.
func (m *Mask) Fit(to images.Header, name, of string) error {
	if width, height := to.Stored.Size(m.Width, m.Height); to.Stored.Swaps() && !m.Stored.Turns() && m.Width != m.Height &&
		width == to.Width && height == to.Height {
		m.turn(to.Stored)
		m.WithImage = true
		return nil
	}
	if m.Width != to.Width || m.Height != to.Height {
		return structured.BadInput("%s: %d × %d pixels, expected %d × %d as %s has", name, m.Width,
			m.Height, to.Width, to.Height, of)
	}
	return nil
}

// copy copies pixels from rows that are stride apart.
func (m *Mask) copy(pixels []uint8, stride int) {
	m.Labels = make([]uint8, 0, m.Width*m.Height)
	for y := range m.Height {
		m.Labels = append(m.Labels, pixels[y*stride:][:m.Width]...)
	}
}

// copyGreys copies the pixels of a colour image all of which are opaque and grey, as programs for painting store masks
// of grey values.
func (m *Mask) copyGreys(from image.Image, name string) error {
	m.Labels = make([]uint8, 0, m.Width*m.Height)
	for y := range m.Height {
		for x := range m.Width {
			c := color.NRGBA64Model.Convert(from.At(x, y)).(color.NRGBA64)
			if c.R != c.G || c.R != c.B || c.A != math.MaxUint16 || c.R>>8 != c.R&255 {
				return structured.BadInput("%s: a colour image (the pixel at x %d, y %d), %s", name, x, y, expected)
			}
			m.Labels = append(m.Labels, uint8(c.R>>8))
		}
	}
	return nil
}

// Check returns a bad-input error about the first pixel whose label is neither below n nor Void. name is the name of
// the mask's file, and where tells what the n labels come from.
func (m *Mask) Check(n int, name, where string) error {
	for i, l := range m.Labels {
		if int(l) >= n && l != Void {
			return structured.BadInput("%s: the pixel at x %d, y %d has label %d, expected 0 to %d (%s) or 255, void", name,
				i%m.Width, i/m.Width, l, n-1, where)
		}
	}
	return nil
}

// Max returns the largest label, or −1 if there is none.
func (m *Mask) Max() int {
	most := -1
	for _, l := range m.Labels {
		if l != Void {
			most = max(most, int(l))
		}
	}
	return most
}

// Image returns the mask as an image with a palette or of grey values, as its file is. It shares the labels.
func (m *Mask) Image() image.Image {
	bounds := image.Rect(0, 0, m.Width, m.Height)
	if m.Palette == nil {
		return &image.Gray{Pix: m.Labels, Stride: m.Width, Rect: bounds}
	}
	return &image.Paletted{Pix: m.Labels, Stride: m.Width, Rect: bounds, Palette: m.Palette}
}

// Encode writes the mask as a PNG image that Decode reads. A palette without colours for some labels gets those of
// Palette.
func (m *Mask) Encode(w io.Writer) error {
	if m.Palette != nil {
		full := Palette()
		copy(full, m.Palette)
		m = &Mask{Width: m.Width, Height: m.Height, Labels: m.Labels, Palette: full}
	}
	return png.Encode(w, m.Image())
}

// Write writes the mask to a PNG file.
func (m *Mask) Write(path string) error { return host.WriteFile(path, m.Encode) }
