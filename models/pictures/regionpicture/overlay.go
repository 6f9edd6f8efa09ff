package regionpicture

import (
	"image/color"

	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// opacity is the share of a label's colour in an overlay.
const opacity = 0.45

// Overlay is an image with a mask painted over it, and a legend of the labels below.
type Overlay struct {
	Image  *images.Image
	Mask   *masks.Mask // of the image's size
	Labels *structured.Alphabet
}

// Write draws the overlay into a file whose name ends in .png or .svg. A small image is enlarged by a whole number, so
// that the legend has room.
func (o Overlay) Write(path string) error {
	scale := 1
	for o.Image.Width*scale < 320 {
		scale++
	}
	return Sheet{Columns: 1, Panels: []Panel{{Image: Paint(o.Image, o.Mask)}}, Labels: o.Labels,
		width: o.Image.Width * scale}.Write(path)
}

// Paint returns the image with the translucent colours of a mask, as Legend names them.
func Paint(m *images.Image, mask *masks.Mask) *images.Image {
	return masks.Overlay(m, mask, masks.Palette(), opacity)
}

// Flat returns the mask in full colours. Void is white.
func Flat(mask *masks.Mask) *images.Image {
	m := &images.Image{Width: mask.Width, Height: mask.Height, Pixels: make([]uint8, 0, 3*len(mask.Labels))}
	for _, l := range mask.Labels {
		c := masks.Colour(int(l))
		m.Pixels = append(m.Pixels, c.R, c.G, c.B)
	}
	return m
}

// colourOf is the colour of a label in the legend.
func colourOf(l int) color.Color { return masks.Colour(l) }
