package treepicture

import (
	"image/color"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dsp-go/dsp/models/pictures/canvas"
)

// draw draws the sentence with its lower left corner at the given point.
func (l *layout) draw(area draw.Canvas, at vg.Point) {
	for _, a := range l.arcs {
		l.drawArc(area, at, a)
	}
	for _, a := range l.arcs { // labels go on top of all lines
		l.drawLabel(area, at, a)
	}
	for t, word := range l.s.Words {
		y := at.Y + l.base - 15
		centred(area, canvas.Style(wordSize, canvas.Ink), vg.Point{X: at.X + l.centre[t], Y: y}, word)
		if l.s.Tags != nil {
			centred(area, canvas.Style(smallSize, grey), vg.Point{X: at.X + l.centre[t], Y: y - 13}, l.s.Tags[t])
		}
	}
}

// centred writes text centred horizontally at a point.
func centred(area draw.Canvas, st text.Style, at vg.Point, words string) {
	at.X -= st.Width(words) / 2
	area.FillText(st, at, words)
}

// y returns the height at which an arc of this level is drawn.
func (l *layout) y(at vg.Point, a *arc) vg.Length {
	return at.Y + l.base + vg.Length(a.level)*levelStep
}

func (l *layout) drawArc(area draw.Canvas, at vg.Point, a *arc) {
	bottom, top := at.Y+l.base, l.y(at, a)
	to := at.X + a.to
	area.SetLineStyle(a.line)
	var path vg.Path
	if a.isRoot() {
		path.Move(vg.Point{X: to, Y: top + levelStep/2})
		path.Line(vg.Point{X: to, Y: bottom + 5})
	} else {
		from := at.X + a.from
		turn := corner
		if to < from {
			turn = -corner
		}
		path.Move(vg.Point{X: from, Y: bottom})
		path.Line(vg.Point{X: from, Y: top - corner})
		path.QuadTo(vg.Point{X: from, Y: top}, vg.Point{X: from + turn, Y: top})
		path.Line(vg.Point{X: to - turn, Y: top})
		path.QuadTo(vg.Point{X: to, Y: top}, vg.Point{X: to, Y: top - corner})
		path.Line(vg.Point{X: to, Y: bottom + 5})
	}
	area.Stroke(path)
	var tip vg.Path
	tip.Move(vg.Point{X: to, Y: bottom})
	tip.Line(vg.Point{X: to - 3, Y: bottom + 6})
	tip.Line(vg.Point{X: to + 3, Y: bottom + 6})
	tip.Close()
	area.SetColor(a.line.Color)
	area.Fill(tip)
}

// drawLabel writes the relation into a gap of the arc's line.
func (l *layout) drawLabel(area draw.Canvas, at vg.Point, a *arc) {
	if a.label == "" {
		return
	}
	st := canvas.Style(smallSize, a.text)
	width, top := a.labelWidth(), l.y(at, a)
	x := at.X + a.to + 3
	if a.isRoot() {
		top += levelStep/2 - 4
	} else {
		x = at.X + l.free(a, width)
		area.SetColor(color.White)
		area.Fill(vg.Rectangle{Min: vg.Point{X: x, Y: top - 5}, Max: vg.Point{X: x + width, Y: top + 6}}.Path())
	}
	area.FillText(st, vg.Point{X: x + 3, Y: top - 3}, a.label)
}

// free returns where on an arc its label begins: the position nearest to the middle that no line of another arc
// crosses, or the middle if there is none.
func (l *layout) free(a *arc, width vg.Length) vg.Length {
	middle := (a.from+a.to)/2 - width/2
	most := max(a.from, a.to) - corner - width
	for shift := vg.Length(0); middle+shift <= most; shift += 2 {
		for _, x := range []vg.Length{middle + shift, middle - shift} {
			if !l.passed(a, x, x+width) {
				return x
			}
		}
	}
	return middle
}

// passed reports whether a line of an arc above a crosses the interval.
func (l *layout) passed(a *arc, from, to vg.Length) bool {
	for _, b := range l.arcs {
		if b == a || b.level < a.level {
			continue
		}
		if from-2 < b.to && b.to < to+2 || !b.isRoot() && from-2 < b.from && b.from < to+2 {
			return true
		}
	}
	return false
}
