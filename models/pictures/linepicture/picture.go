// Package linepicture draws lines of text with what a model reads in them, as SVG, PNG or PDF.
package linepicture

import (
	"image"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dsp-go/dsp/models/pictures/canvas"
	"github.com/dsp-go/dsp/structured"
)

// Sheet is a list of lines, one below the other.
type Sheet struct {
	Title string // heading, or ""
	Lines []Line
}

// Line is a line with the predicted string.
type Line struct {
	Image     image.Image
	Predicted string
	Note      string  // behind it
	Gold      *string // what the line reads, or nil
}

// Sizes.
const (
	dpi        = 144
	margin     = vg.Length(14)
	lineWidth  = vg.Length(300) // at most; images keep their aspect
	lineHeight = vg.Length(26)
	wordWidth  = vg.Length(300)
	rowHeight  = vg.Length(38)
	wordSize   = 11.0
	noteSize   = 8.0
)

// Write draws the sheet into a file whose name ends in .svg, .png or .pdf. A string is blue, and orange where it is not
// the gold one, which is then below it.
func (s Sheet) Write(path string) error {
	if len(s.Lines) == 0 {
		return structured.BadInput("%s: no lines to draw", path)
	}
	height := 2*margin + vg.Length(len(s.Lines))*rowHeight
	if s.Title != "" {
		height += 22
	}
	return canvas.Sheet{Width: 2*margin + lineWidth + 16 + wordWidth, Height: height,
		DPI: dpi}.File(path, func(area draw.Canvas) {
		y := area.Max.Y - margin
		if s.Title != "" {
			y -= 22
			area.FillText(canvas.Bold(12), vg.Point{X: margin, Y: y + 10}, s.Title)
		}
		for _, l := range s.Lines {
			l.draw(area, y)
			y -= rowHeight
		}
	})
}

// draw draws a line with its upper edge at y.
func (l Line) draw(area draw.Canvas, y vg.Length) {
	b := l.Image.Bounds()
	scale := min(lineHeight/vg.Length(b.Dy()), lineWidth/vg.Length(b.Dx()))
	width, height := scale*vg.Length(b.Dx()), scale*vg.Length(b.Dy())
	area.DrawImage(vg.Rectangle{Min: vg.Point{X: margin, Y: y - height}, Max: vg.Point{X: margin + width, Y: y}}, l.Image)

	colour := canvas.Right
	wrong := l.Gold != nil && *l.Gold != l.Predicted
	if wrong {
		colour = canvas.Wrong
	}
	x, word, small := margin+lineWidth+16, canvas.Style(wordSize, colour), canvas.Style(noteSize, canvas.Ink)
	text := canvas.Shorten(l.Predicted, word, wordWidth-small.Width(l.Note)-8)
	area.FillText(word, vg.Point{X: x, Y: y - 12}, text)
	area.FillText(small, vg.Point{X: x + word.Width(text) + 8, Y: y - 12}, l.Note)
	if wrong {
		area.FillText(canvas.Style(wordSize, canvas.Gold), vg.Point{X: x, Y: y - 26},
			canvas.Shorten(*l.Gold, word, wordWidth))
	}
}
