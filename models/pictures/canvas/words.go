package canvas

import (
	"image/color"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Okabe and Ito's palette, which colour-blind readers can distinguish, and the colour of words.
var (
	Ink   = color.NRGBA{0x28, 0x28, 0x28, 255}
	Gold  = color.NRGBA{0x00, 0x9e, 0x73, 255}
	Right = color.NRGBA{0x00, 0x72, 0xb2, 255}
	Wrong = color.NRGBA{0xd5, 0x5e, 0x00, 255}
)

// Style is that of words of a size in points.
func Style(points float64, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(points)},
		Handler: plot.DefaultTextHandler,
	}
}

// Bold is that of headings.
func Bold(points float64) text.Style {
	st := Style(points, Ink)
	st.Font.Weight = stdfont.WeightBold
	return st
}

// Shorten cuts words that are wider than their place.
func Shorten(words string, st text.Style, width vg.Length) string {
	if st.Width(words) <= width {
		return words
	}
	runes := []rune(words)
	for len(runes) > 0 && st.Width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}
