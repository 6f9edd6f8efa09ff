// Package curves draws the progress of training runs: objective, certificate and error against passes and seconds.
package curves

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dsp-go/dsp/models/pictures/canvas"
	"github.com/dsp-go/dsp/train/record"
)

// Run is one curve of every panel.
type Run struct {
	Name    string
	Records []record.Record
}

// Size of the picture: a column of a web page at twice its resolution.
const (
	width     = 8.5 * vg.Inch
	rowHeight = 2.35 * vg.Inch
	head      = 0.68 * vg.Inch // title
	legend    = 0.26 * vg.Inch
	dpi       = 192
)

// Write draws the runs, the first in front, at path, as PNG, SVG or PDF. It omits rows without data, such as the
// certificate of runs without one. Without anything to draw it writes nothing.
func Write(path string, runs ...Run) error {
	var shown []Run
	for _, r := range runs {
		if len(r.Records) > 0 {
			shown = append(shown, r)
		}
	}
	if len(shown) == 0 {
		return nil
	}
	p := newPicture(shown)
	if len(p.rows) == 0 {
		return nil
	}
	return canvas.Sheet{Width: width, Height: p.height(), DPI: dpi}.File(path, p.draw)
}

// picture is a row of panels for each quantity that the runs have.
type picture struct {
	runs []Run
	rows []row
}

func newPicture(runs []Run) *picture {
	p := &picture{runs: runs}
	for _, r := range []row{objectiveRow(runs), certificateRow(runs), errorRow(runs)} {
		if r.drawn(runs) {
			p.rows = append(p.rows, r)
		}
	}
	return p
}

// top returns the height of the title and the legend.
func (p *picture) top() vg.Length {
	if len(p.entries()) > 0 {
		return head + legend
	}
	return head
}

func (p *picture) height() vg.Length { return p.top() + vg.Length(len(p.rows))*(rowTitle+rowHeight) }

func (p *picture) draw(area draw.Canvas) {
	p.drawHead(area)
	plots := make([][]*plot.Plot, len(p.rows))
	for i, r := range p.rows {
		plots[i] = r.panels(p.runs, i == len(p.rows)-1)
	}
	tiles := draw.Tiles{Rows: len(p.rows), Cols: 2, PadX: 0.3 * vg.Inch, PadY: rowTitle + 0.1*vg.Inch,
		PadLeft: 0.1 * vg.Inch, PadRight: 0.2 * vg.Inch, PadTop: rowTitle, PadBottom: 0.1 * vg.Inch}
	canvases := plot.Align(plots, tiles, draw.Crop(area, 0, 0, 0, -p.top()))
	st := style(11, ink)
	for i := range plots {
		for j, panel := range plots[i] {
			panel.Draw(canvases[i][j])
		}
		at := canvases[i][0]
		area.FillText(st, vg.Point{X: area.Min.X + 0.15*vg.Inch, Y: at.Max.Y + 0.08*vg.Inch}, p.rows[i].title())
	}
}

// mark is an entry of the legend.
type mark struct {
	line draw.LineStyle
	text string
}

// entries returns the legend: the runs, if there are several, and the bound, if it is drawn.
func (p *picture) entries() []mark {
	var all []mark
	for k, r := range p.runs {
		if len(p.runs) > 1 {
			line := lineStyle(k)
			line.Width = vg.Points(3)
			all = append(all, mark{line, r.Name})
		}
	}
	for k, r := range p.runs {
		if _, ok := finalBound(r); ok {
			return append(all, mark{boundStyle(k), certified("certified lower bound of the optimum", p.runs)})
		}
	}
	return all
}

// certified is record.Certified for what a picture shows of the certificates of runs. It names those with a relaxed
// objective if others have none.
func certified(text string, runs []Run) string {
	var relaxed []string
	bounded := 0
	for _, run := range runs {
		last := run.Records[len(run.Records)-1]
		if math.IsNaN(float64(last.Dual)) {
			continue
		}
		bounded++
		if last.Relaxed {
			relaxed = append(relaxed, run.Name)
		}
	}
	text = record.Certified(text, len(relaxed) > 0)
	if len(relaxed) > 0 && len(relaxed) < bounded {
		text += " of " + strings.Join(relaxed, " and ")
	}
	return text
}

// drawHead writes the outcome of the first run and the legend.
func (p *picture) drawHead(c draw.Canvas) {
	left := c.Min.X + 0.15*vg.Inch
	title, finding := outcome(p.runs[0])
	bold := style(13, ink)
	bold.Font.Weight = stdfont.WeightBold
	c.FillText(bold, vg.Point{X: left, Y: c.Max.Y - 0.27*vg.Inch}, title)
	c.FillText(style(11, ink), vg.Point{X: left, Y: c.Max.Y - 0.5*vg.Inch}, finding)
	x, y, st := left, c.Max.Y-0.76*vg.Inch, style(11, ink)
	for _, e := range p.entries() {
		c.StrokeLine2(e.line, x, y+vg.Points(3.5), x+0.28*vg.Inch, y+vg.Points(3.5))
		x += 0.35 * vg.Inch
		c.FillText(st, vg.Point{X: x, Y: y}, e.text)
		x += st.Width(e.text) + 0.3*vg.Inch
	}
}

// outcome describes the result of a run.
func outcome(r Run) (title, finding string) {
	last := r.Records[len(r.Records)-1]
	passes := "passes"
	if last.Pass == 1 {
		passes = "pass"
	}
	title = fmt.Sprintf("%s, %d %s in %.3g s", r.Name, last.Pass, passes, last.Seconds)
	finding = "objective not computed"
	for _, known := range slices.Backward(r.Records) { // an interrupted run may end without
		if math.IsNaN(float64(known.Objective)) {
			continue
		}
		finding = fmt.Sprintf("objective %.4g", float64(known.Objective))
		if far := aboveOptimum(known); far != "" {
			finding += record.Certified(", "+far, known.Relaxed)
		}
		if known.Pass != last.Pass {
			finding += fmt.Sprintf(" after pass %d", known.Pass)
		}
		break
	}
	best, least := last, math.Inf(1)
	for _, rec := range r.Records {
		if _, e := rec.DevError(); e < least {
			best, least = rec, e
		}
	}
	if name, e := best.DevError(); !math.IsNaN(e) {
		finding += fmt.Sprintf("; lowest %s on dev %.3g %%, after pass %d", name, 100*e, best.Pass)
	}
	return title, finding
}

// aboveOptimum says how far the objective is from the optimum at most: (F − dual)/dual. It is empty without a
// certificate; a dual that is not above 0 bounds no factor.
func aboveOptimum(r record.Record) string {
	gap, dual := float64(r.Gap), float64(r.Dual)
	switch {
	case math.IsNaN(gap):
		return ""
	case gap == 0:
		return "which is the optimum"
	case dual <= 0:
		return fmt.Sprintf("at most %s above the optimum", label(gap))
	case gap < dual:
		return fmt.Sprintf("at most %s %% above the optimum", label(100*gap/dual))
	}
	return fmt.Sprintf("at most %s times the optimum", label(1+gap/dual))
}

func style(points float64, ink color.Color) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(points)},
		Handler: plot.DefaultTextHandler,
	}
}
