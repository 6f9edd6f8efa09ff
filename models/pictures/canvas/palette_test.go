package canvas

import (
	"image"
	"image/color"
	"testing"
)

// Up to 256 colours stay as they are; more become near ones, or stay without a palette where none is near, as
// transparent ones do.
func TestFewColours(t *testing.T) {
	for name, c := range map[string]struct {
		colours   int
		palette   bool
		mayDiffer int
		of        func(k int) color.RGBA
	}{
		"one": {1, true, 0, func(int) color.RGBA { return color.RGBA{R: 200, A: 255} }},
		"just few": {256, true, 0, func(k int) color.RGBA {
			return color.RGBA{R: uint8(k), G: uint8(255 - k), B: 7, A: 255}
		}},
		"soft edges": {4 * 255, true, nearColours, func(k int) color.RGBA {
			g := uint8(k / 4)
			return color.RGBA{R: g, G: g + uint8(k%4/3), B: g + uint8(k%4/2), A: 255}
		}},
		"too many": {512, false, 0, func(k int) color.RGBA {
			return color.RGBA{R: uint8(k%8) << 5, G: uint8(k/8%8) << 5, B: uint8(k/64) << 5, A: 255}
		}},
		"photograph": {6000, false, 0, func(k int) color.RGBA { return color.RGBA{R: uint8(k), G: uint8(k >> 8), A: 255} }},
		"glass":      {2, false, 0, func(k int) color.RGBA { return color.RGBA{A: uint8(255 * k)} }},
	} {
		t.Run(name, func(t *testing.T) {
			from := image.NewRGBA(image.Rect(3, 2, 103, 102))
			for k := range 100 * 100 {
				from.SetRGBA(3+k%100, 2+k/100, c.of(k%c.colours))
			}
			to := fewColours(from)
			if _, got := to.(*image.Paletted); got != c.palette || to.Bounds() != from.Bounds() {
				t.Fatalf("%T of %v", to, to.Bounds())
			}
			for k := range 100 * 100 {
				x, y := 3+k%100, 2+k/100
				got, want := color.RGBAModel.Convert(to.At(x, y)).(color.RGBA), from.RGBAAt(x, y)
				if distance(got, want) > c.mayDiffer || got.A != want.A {
					t.Fatalf("%v at %d, %d, expected %v", got, x, y, want)
				}
			}
		})
	}
}
