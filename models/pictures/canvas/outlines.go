package canvas

import (
	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// outlines is a PDF canvas that draws text as the outlines of its letters. The canvas below it would need a font in a
// one-byte encoding, which lacks letters such as λ, and does not find bold fonts.
type outlines struct {
	*vgpdf.Canvas
	buffer sfnt.Buffer
}

// FillString implements vg.Canvas. Letters that the font lacks are drawn as its box for missing letters.
func (c *outlines) FillString(face font.Face, at vg.Point, text string) {
	f := face.Face
	em := fixed.Int26_6(f.UnitsPerEm())
	scale := face.Font.Size / vg.Length(em) // points per unit of the outlines
	place := func(p fixed.Point26_6, x fixed.Int26_6) vg.Point {
		return vg.Point{X: at.X + vg.Length(x+p.X)*scale, Y: at.Y - vg.Length(p.Y)*scale} // outlines have y downwards
	}
	var path vg.Path
	var x fixed.Int26_6 // of the letter's origin, in units
	var before sfnt.GlyphIndex
	for k, r := range text {
		glyph, err := f.GlyphIndex(&c.buffer, r)
		if err != nil {
			continue
		}
		if kern, err := f.Kern(&c.buffer, before, glyph, em, stdfont.HintingNone); err == nil && k > 0 {
			x += kern
		}
		before = glyph
		if segments, err := f.LoadGlyph(&c.buffer, glyph, em, nil); err == nil {
			for n, s := range segments {
				switch s.Op {
				case sfnt.SegmentOpMoveTo:
					if n > 0 {
						path.Close()
					}
					path.Move(place(s.Args[0], x))
				case sfnt.SegmentOpLineTo:
					path.Line(place(s.Args[0], x))
				case sfnt.SegmentOpQuadTo:
					path.QuadTo(place(s.Args[0], x), place(s.Args[1], x))
				case sfnt.SegmentOpCubeTo:
					path.CubeTo(place(s.Args[0], x), place(s.Args[1], x), place(s.Args[2], x))
				}
			}
			if len(segments) > 0 {
				path.Close()
			}
		}
		if advance, err := f.GlyphAdvance(&c.buffer, glyph, em, stdfont.HintingNone); err == nil {
			x += advance
		}
	}
	if len(path) > 0 {
		c.Fill(path)
	}
}
