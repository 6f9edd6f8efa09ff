package regions

import (
	"math"

	"github.com/dsp-go/dsp/structured/images"
)

// lab is a colour in CIELAB under daylight D65: lightness from 0 to 100, green to red, blue to yellow.
type lab [3]float32

// linear is the intensity of each sRGB value.
var linear = func() (t [256]float64) {
	for v := range t {
		if c := float64(v) / 255; c <= 0.04045 {
			t[v] = c / 12.92
		} else {
			t[v] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return t
}()

// newLab converts sRGB by CIE 1931's XYZ (IEC 61966-2-1).
func newLab(red, green, blue uint8) lab {
	r, g, b := linear[red], linear[green], linear[blue]
	x := response((0.4124564*r + 0.3575761*g + 0.1804375*b) / 0.95047)
	y := response(0.2126729*r + 0.7151522*g + 0.0721750*b)
	z := response((0.0193339*r + 0.1191920*g + 0.9503041*b) / 1.08883)
	return lab{float32(116*y - 16), float32(500 * (x - y)), float32(200 * (y - z))}
}

func response(t float64) float64 {
	if t > 216./24389 {
		return math.Cbrt(t)
	}
	return (24389./27*t + 16) / 116
}

// toLab converts the pixels of an image.
func toLab(m *images.Image) []lab {
	out := make([]lab, m.Width*m.Height)
	for i := range out {
		p := m.Pixels[3*i:][:3]
		out[i] = newLab(p[0], p[1], p[2])
	}
	return out
}

// squared returns the squared distance of two colours.
func (a lab) squared(b lab) float32 {
	l, u, v := a[0]-b[0], a[1]-b[1], a[2]-b[2]
	return l*l + u*u + v*v
}
