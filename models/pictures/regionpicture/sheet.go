// Package regionpicture draws images with labels: overlays of masks, and sheets that show images, masks and predictions
// side by side, with a legend.
package regionpicture

import (
	"image"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dsp-go/dsp/models/pictures/canvas"
	"github.com/dsp-go/dsp/structured"
)

// Sheet is a sheet of images.
type Sheet struct {
	Title   string               // heading, or ""
	Heads   []string             // above the columns, or nil
	Columns int                  // images side by side; 0 is 4
	Panels  []Panel              // row by row
	Labels  *structured.Alphabet // for the legend, or nil

	width int // of a panel in pixels of a PNG image; 0 is that of panelWidth
}

// Panel is an image.
type Panel struct {
	Image   image.Image
	Caption string // written below, or ""
}

// Sizes. A PNG image has two pixels per point.
const (
	dpi         = 144
	perPoint    = dpi / 72
	margin      = vg.Length(14)
	gap         = vg.Length(8)
	panelWidth  = vg.Length(190)
	captionSize = 9.0 // points
	titleSize   = 12.0
	line        = vg.Length(18)
	swatch      = vg.Length(12)
)

var small = canvas.Style(captionSize, canvas.Ink)

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
	panel := panelWidth
	if s.width > 0 {
		panel = vg.Length(s.width) / perPoint
	}
	width := vg.Length(columns)*(panel+gap) - gap
	entries := s.legend(width)
	height := 2*margin + vg.Length(len(entries))*line
	if s.Title != "" {
		height += 22
	}
	if s.Heads != nil {
		height += line
	}
	var rows []row
	for at := 0; at < len(s.Panels); at += columns {
		rows = append(rows, newRow(s.Panels[at:min(at+columns, len(s.Panels))], panel))
		height += rows[len(rows)-1].height
	}
	width += 2 * margin
	return canvas.Sheet{Width: width, Height: height, DPI: dpi}.File(path, func(area draw.Canvas) {
		y := area.Max.Y - margin
		if s.Title != "" {
			y -= 22
			area.FillText(canvas.Bold(titleSize), vg.Point{X: margin, Y: y + 10}, s.Title)
		}
		if s.Heads != nil {
			y -= line
			for k, head := range s.Heads {
				area.FillText(small, vg.Point{X: margin + vg.Length(k)*(panel+gap), Y: y + 6}, canvas.Shorten(head, small, panel))
			}
		}
		for _, r := range rows {
			r.draw(area, y)
			y -= r.height
		}
		for _, entry := range entries {
			y -= line
			entry.draw(area, y+4)
		}
	})
}

// row is a row of panels of one width. Images keep their aspect.
type row struct {
	panels        []Panel
	width, height vg.Length // of a panel; of the row
	captions      bool
}

func newRow(panels []Panel, width vg.Length) row {
	r := row{panels: panels, width: width}
	for _, p := range panels {
		r.height = max(r.height, r.heightOf(p))
		r.captions = r.captions || p.Caption != ""
	}
	r.height += gap
	if r.captions {
		r.height += line - gap
	}
	return r
}

func (r row) heightOf(p Panel) vg.Length {
	b := p.Image.Bounds()
	return r.width * vg.Length(b.Dy()) / vg.Length(b.Dx())
}

func (r row) draw(area draw.Canvas, top vg.Length) {
	for k, p := range r.panels {
		x := margin + vg.Length(k)*(r.width+gap)
		bottom := top - r.heightOf(p)
		area.DrawImage(vg.Rectangle{Min: vg.Point{X: x, Y: bottom}, Max: vg.Point{X: x + r.width, Y: top}},
			enlarged(p.Image, int(r.width*perPoint)))
		if p.Caption != "" {
			area.FillText(small, vg.Point{X: x, Y: bottom - 11}, canvas.Shorten(p.Caption, small, r.width))
		}
	}
}

// enlarged repeats the pixels of a small image by a whole number, up to a width or a little more, so that they stay
// sharp on the sheet.
func enlarged(m image.Image, width int) image.Image {
	b := m.Bounds()
	scale := (width + b.Dx() - 1) / b.Dx()
	if scale < 2 {
		return m
	}
	out := image.NewRGBA(image.Rect(0, 0, scale*b.Dx(), scale*b.Dy()))
	for y := range out.Rect.Max.Y {
		for x := range out.Rect.Max.X {
			out.Set(x, y, m.At(b.Min.X+x/scale, b.Min.Y+y/scale))
		}
	}
	return out
}

// entries are those of a line of the legend.
type entries []entry

type entry struct {
	label int
	name  string
	x     vg.Length
}

// legend arranges the labels in lines of a width.
func (s Sheet) legend(width vg.Length) (lines []entries) {
	if s.Labels == nil {
		return nil
	}
	x := vg.Length(0)
	for l, name := range s.Labels.Names() {
		name = canvas.Shorten(name, small, width-swatch-6)
		size := swatch + 6 + small.Width(name)
		if len(lines) == 0 || x+size > width {
			lines, x = append(lines, nil), 0
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], entry{l, name, x})
		x += size + 16
	}
	return lines
}

func (e entries) draw(area draw.Canvas, y vg.Length) {
	for _, entry := range e {
		x := margin + entry.x
		box := vg.Rectangle{Min: vg.Point{X: x, Y: y - 2}, Max: vg.Point{X: x + swatch, Y: y + swatch - 4}}
		area.SetColor(colourOf(entry.label))
		area.Fill(box.Path())
		area.FillText(small, vg.Point{X: x + swatch + 6, Y: y}, entry.name)
	}
}
