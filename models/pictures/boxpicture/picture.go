// Package boxpicture draws images with their gold, predicted and runner-up boxes on a contact sheet, as SVG or PNG.
package boxpicture

import (
	"image"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dsp-go/dsp/models/pictures/canvas"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

// Sheet is a contact sheet.
type Sheet struct {
	Title   string  // heading, or ""
	Columns int     // images side by side; 0 is 4
	Panels  []Panel // row by row
}

// Panel is an image with boxes.
type Panel struct {
	Image   image.Image
	Caption string            // written below, or ""
	Gold    *boxes.Box        // the annotated box, or nil
	Found   []boxes.Detection // the predicted box, then the runners-up; or nil
}

// Sizes.
const (
	dpi         = 144
	margin      = vg.Length(14)
	gap         = vg.Length(10)
	panelWidth  = vg.Length(190)
	panelHeight = vg.Length(150) // at most; images keep their aspect
	captionSize = 9.0            // points
	scoreSize   = 7.5
	titleSize   = 12.0
)

var (
	small    = canvas.Style(captionSize, canvas.Ink) // of captions
	runnerUp = color.NRGBA{0xf0, 0xe4, 0x42, 255}    // of Okabe and Ito's palette, too
	halo     = color.NRGBA{0, 0, 0, 150}             // around lines, so that they are visible on any image
)

// Write draws the sheet into a file whose name ends in .svg, .png or .pdf.
func (s Sheet) Write(path string) error {
	if len(s.Panels) == 0 {
		return structured.BadInput("%s: no images to draw", path)
	}
	for k, p := range s.Panels {
		if p.Image == nil || p.Image.Bounds().Empty() {
			return structured.BadInput("%s: image %d is empty", path, k)
		}
	}
	columns := s.Columns
	if columns < 1 {
		columns = 4
	}
	columns = min(columns, len(s.Panels))
	var rows []row
	for at := 0; at < len(s.Panels); at += columns {
		rows = append(rows, newRow(s.Panels[at:min(at+columns, len(s.Panels))]))
	}
	notes := s.notes()
	width := vg.Length(columns)*(panelWidth+gap) - gap
	height := 2 * margin
	if s.Title != "" {
		width, height = max(width, canvas.Style(titleSize, canvas.Ink).Width(s.Title)), height+22
	}
	if len(notes) > 0 {
		total := vg.Length(0)
		for _, n := range notes {
			total += n.width()
		}
		width, height = max(width, total), height+18
	}
	for _, r := range rows {
		height += r.height
	}
	width += 2 * margin
	return canvas.Sheet{Width: width, Height: height, DPI: dpi}.File(path, func(area draw.Canvas) {
		y := area.Max.Y - margin
		if s.Title != "" {
			y -= 22
			area.FillText(canvas.Bold(titleSize), vg.Point{X: margin, Y: y + 10}, s.Title)
		}
		if len(notes) > 0 {
			y -= 18
			x := margin
			for _, n := range notes {
				n.draw(area, vg.Point{X: x, Y: y + 8})
				x += n.width()
			}
		}
		for _, r := range rows {
			r.draw(area, y)
			y -= r.height
		}
	})
}

// note is an entry of the legend.
type note struct {
	line draw.LineStyle
	text string
}

func (n note) width() vg.Length { return 26 + 6 + small.Width(n.text) + 18 }

func (n note) draw(area draw.Canvas, at vg.Point) {
	under := n.line
	under.Color, under.Width = halo, n.line.Width+1.2
	area.StrokeLine2(under, at.X, at.Y+3, at.X+26, at.Y+3)
	area.StrokeLine2(n.line, at.X, at.Y+3, at.X+26, at.Y+3)
	area.FillText(small, vg.Point{X: at.X + 32, Y: at.Y}, n.text)
}

// notes returns the legend of the lines that occur.
func (s Sheet) notes() []note {
	var notes []note
	var golden, good, bad, blind, others bool
	for _, p := range s.Panels {
		golden = golden || p.Gold != nil
		others = others || len(p.Found) > 1
		if len(p.Found) > 0 {
			switch {
			case p.Gold == nil:
				blind = true
			case p.correct():
				good = true
			default:
				bad = true
			}
		}
	}
	for _, n := range []struct {
		occurs bool
		note
	}{
		{golden, note{goldLine(), "gold"}}, {blind, note{foundLine(canvas.Right), "predicted"}},
		{good, note{foundLine(canvas.Right), "predicted, IoU above 0.5"}},
		{bad, note{foundLine(canvas.Wrong), "predicted, IoU up to 0.5"}}, {others, note{runnerUpLine(), "runner-up"}},
	} {
		if n.occurs {
			notes = append(notes, n.note)
		}
	}
	return notes
}

// correct reports whether the predicted box overlaps with the gold one as CorLoc demands.
func (p Panel) correct() bool { return p.Gold != nil && p.Found[0].Box.IoU(*p.Gold) > 0.5 }

func goldLine() draw.LineStyle {
	return draw.LineStyle{Color: canvas.Gold, Width: vg.Points(2), Dashes: []vg.Length{5, 3}}
}

func foundLine(c color.Color) draw.LineStyle { return draw.LineStyle{Color: c, Width: vg.Points(1.8)} }

func runnerUpLine() draw.LineStyle { return draw.LineStyle{Color: runnerUp, Width: vg.Points(0.8)} }
