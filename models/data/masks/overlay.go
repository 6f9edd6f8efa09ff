package masks

import (
	"image/color"

	"github.com/dsp-go/dsp/structured/images"
)

// Overlay paints the colours of a mask over an image of the same size: opacity is their share from 0 to 1, and lines
// between different labels are opaque. Void pixels keep the image's colour. colours are those of the labels.
func Overlay(m *images.Image, mask *Mask, colours color.Palette, opacity float64) *images.Image {
	out := &images.Image{Width: m.Width, Height: m.Height, Pixels: make([]uint8, len(m.Pixels))}
	copy(out.Pixels, m.Pixels)
	for y := range m.Height {
		for x := range m.Width {
			i := y*m.Width + x
			l := mask.Labels[i]
			if l == Void || int(l) >= len(colours) {
				continue
			}
			share := opacity
			if x+1 < m.Width && mask.Labels[i+1] != l || y+1 < m.Height && mask.Labels[i+m.Width] != l {
				share = 1
			}
			r, g, b, _ := colours[l].RGBA()
			for k, v := range []uint32{r, g, b} {
				p := &out.Pixels[3*i+k]
				*p = uint8((1-share)*float64(*p) + share*float64(v>>8) + 0.5)
			}
		}
	}
	return out
}
