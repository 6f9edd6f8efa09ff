package boxpicture

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dsp-go/dsp/models/pictures/canvas"
	"github.com/dsp-go/dsp/structured/boxes"
)

// row is a row of panels, whose images stand on one line.
type row struct {
	panels []Panel
	tallest,
	height vg.Length // of the images; with captions and the gap
}

func newRow(panels []Panel) row {
	r := row{panels: panels}
	captions := false
	for _, p := range panels {
		_, height := p.size()
		r.tallest = max(r.tallest, height)
		captions = captions || p.caption() != ""
	}
	r.height = r.tallest + gap
	if captions {
		r.height += captionSize + 4
	}
	return r
}

// draw draws the row with its upper edge at y.
func (r row) draw(area draw.Canvas, y vg.Length) {
	for k, p := range r.panels {
		width, height := p.size()
		at := vg.Point{X: margin + vg.Length(k)*(panelWidth+gap), Y: y - r.tallest}
		frame := vg.Rectangle{Min: at, Max: vg.Point{X: at.X + width, Y: at.Y + height}}
		area.DrawImage(frame, p.Image)
		p.drawBoxes(area, frame)
		area.FillText(small, vg.Point{X: at.X, Y: at.Y - captionSize - 2}, canvas.Shorten(p.caption(), small, panelWidth))
	}
}

// size returns the size of the image on the sheet.
func (p Panel) size() (width, height vg.Length) {
	b := p.Image.Bounds()
	width, height = vg.Length(b.Dx()), vg.Length(b.Dy())
	scale := min(panelWidth/width, panelHeight/height)
	return width * scale, height * scale
}

// caption returns the caption with the IoU of the predicted box.
func (p Panel) caption() string {
	if p.Gold == nil || len(p.Found) == 0 {
		return p.Caption
	}
	iou := fmt.Sprintf("IoU %.2f", p.Found[0].Box.IoU(*p.Gold))
	if p.Caption == "" {
		return iou
	}
	return iou + " · " + p.Caption
}

// drawBoxes draws the runners-up first, so that the predicted box is on top of them, and the gold one on top of all.
func (p Panel) drawBoxes(area draw.Canvas, frame vg.Rectangle) {
	for k := len(p.Found) - 1; k > 0; k-- {
		p.drawBox(area, frame, p.Found[k].Box, runnerUpLine())
	}
	predicted := canvas.Right
	if len(p.Found) > 0 {
		if p.Gold != nil && !p.correct() {
			predicted = canvas.Wrong
		}
		p.drawBox(area, frame, p.Found[0].Box, foundLine(predicted))
	}
	if p.Gold != nil {
		p.drawBox(area, frame, *p.Gold, goldLine())
	}
	var taken []vg.Rectangle
	for k, d := range p.Found {
		back, front := color.Color(predicted), color.Color(color.White)
		if k > 0 {
			back, front = runnerUp, canvas.Ink
		}
		taken = p.drawScore(area, frame, d, back, front, taken)
	}
}

// place returns a box of the image on the sheet, whose y axis points up.
func (p Panel) place(frame vg.Rectangle, b boxes.Box) vg.Rectangle {
	bounds := p.Image.Bounds()
	scale := (frame.Max.X - frame.Min.X) / vg.Length(bounds.Dx())
	x := func(v float64) vg.Length { return min(max(frame.Min.X+vg.Length(v)*scale, frame.Min.X), frame.Max.X) }
	y := func(v float64) vg.Length { return min(max(frame.Max.Y-vg.Length(v)*scale, frame.Min.Y), frame.Max.Y) }
	return vg.Rectangle{Min: vg.Point{X: x(b.X), Y: y(b.Y + b.Height)}, Max: vg.Point{X: x(b.X + b.Width), Y: y(b.Y)}}
}

func (p Panel) drawBox(area draw.Canvas, frame vg.Rectangle, b boxes.Box, line draw.LineStyle) {
	r := p.place(frame, b)
	path := r.Path()
	under := line
	under.Color, under.Width = halo, line.Width+1.2
	area.SetLineStyle(under)
	area.Stroke(path)
	area.SetLineStyle(line)
	area.Stroke(path)
}

// drawScore writes the score of a box inside its upper left corner, or further down if other scores are there. It
// returns the places that are taken.
func (p Panel) drawScore(area draw.Canvas, frame vg.Rectangle, d boxes.Detection, back, front color.Color,
	taken []vg.Rectangle) []vg.Rectangle {
	st := canvas.Style(scoreSize, front)
	words := fmt.Sprintf("%.3g", d.Score)
	box := p.place(frame, d.Box)
	width, height := st.Width(words)+4, vg.Length(scoreSize)+2
	x := min(box.Min.X, frame.Max.X-width)
	for y := min(box.Max.Y, frame.Max.Y) - height; y >= frame.Min.Y; y -= height {
		label := vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + width, Y: y + height}}
		if overlaps(label, taken) {
			continue
		}
		area.SetColor(back)
		area.Fill(label.Path())
		area.FillText(st, vg.Point{X: x + 2, Y: y + 2.5}, words)
		return append(taken, label)
	}
	return taken // no room
}

func overlaps(r vg.Rectangle, others []vg.Rectangle) bool {
	for _, o := range others {
		if r.Min.X < o.Max.X && o.Min.X < r.Max.X && r.Min.Y < o.Max.Y-0.1 && o.Min.Y < r.Max.Y-0.1 {
			return true
		}
	}
	return false
}
