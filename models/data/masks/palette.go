package masks

import (
	"image/color"
	"math"
)

// first are the colours of the first labels. They are Okabe and Ito's, which colour-blind readers can distinguish,
// after a dark grey for label 0, which is the background in many sets.
var first = []color.RGBA{
	{0x3c, 0x3c, 0x3c, 255}, {0xe6, 0x9f, 0x00, 255}, {0x56, 0xb4, 0xe9, 255},
	{0x00, 0x9e, 0x73, 255}, {0xf0, 0xe4, 0x42, 255},
	{0x00, 0x72, 0xb2, 255}, {0xd5, 0x5e, 0x00, 255}, {0xcc, 0x79, 0xa7, 255},
}

// Palette returns the colours of 256 labels. Void is white.
func Palette() color.Palette {
	p := make(color.Palette, 256)
	for l := range p {
		p[l] = Colour(l)
	}
	return p
}

// Colour returns the colour of a label from 0 to Void. Beyond the first ones, hues are as far from each other as the
// golden ratio puts them.
func Colour(l int) color.RGBA {
	switch {
	case l == Void:
		return color.RGBA{255, 255, 255, 255}
	case l < len(first):
		return first[l]
	}
	_, hue := math.Modf(float64(l) * 0.6180339887498949)
	brightness := 0.95 - 0.2*float64(l%3)
	part := func(shift float64) uint8 { // a raised cosine of the hue
		return uint8(255 * brightness * (0.55 + 0.45*math.Cos(2*math.Pi*(hue-shift))))
	}
	return color.RGBA{part(0), part(1. / 3), part(2. / 3), 255}
}
