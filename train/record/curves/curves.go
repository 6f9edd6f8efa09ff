// Package curves draws the progress of training runs: objective, certificate and error against passes and seconds.
package curves

import (
	"fmt"
	"image/color"
	"io"
	"math"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/dsp-go/dsp/structured/host"
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

// Write draws the runs, the first in front, as a PNG at path. It omits rows without data, such as the certificate of runs
// without one. Without any record it writes nothing.
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
	canvas := picture(shown)
	return host.WriteFile(path, func(w io.Writer) error {
		_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
		return err
	})
}

func picture(runs []Run) *vgimg.Canvas {
	var rows []row
	for _, r := range []row{objectiveRow(runs), certificateRow(runs), errorRow(runs)} {
		if r.drawn(runs) {
			rows = append(rows, r)
		}
	}
	plots := make([][]*plot.Plot, len(rows))
	for i, r := range rows {
		plots[i] = r.panels(runs, i == len(rows)-1)
	}
	top := head
	if len(runs) > 1 {
		top += legend
	}
	canvas := vgimg.NewWith(vgimg.UseWH(width, top+vg.Length(len(rows))*rowHeight), vgimg.UseDPI(dpi))
	whole := draw.New(canvas)
	drawHead(whole, runs)
	tiles := draw.Tiles{Rows: len(rows), Cols: 2, PadX: 0.3 * vg.Inch, PadY: 0.18 * vg.Inch,
		PadLeft: 0.1 * vg.Inch, PadRight: 0.2 * vg.Inch, PadBottom: 0.1 * vg.Inch}
	canvases := plot.Align(plots, tiles, draw.Crop(whole, 0, 0, 0, -top))
	for i := range plots {
		for j, p := range plots[i] {
			p.Draw(canvases[i][j])
		}
	}
	return canvas
}

// drawHead writes the outcome of the first run and the legend of the runs' colours.
func drawHead(c draw.Canvas, runs []Run) {
	left := c.Min.X + 0.15*vg.Inch
	title, finding := outcome(runs[0])
	bold := style(13, ink)
	bold.Font.Weight = stdfont.WeightBold
	c.FillText(bold, vg.Point{X: left, Y: c.Max.Y - 0.27*vg.Inch}, title)
	c.FillText(style(11, ink), vg.Point{X: left, Y: c.Max.Y - 0.5*vg.Inch}, finding)
	if len(runs) == 1 {
		return
	}
	x, y, st := left, c.Max.Y-0.76*vg.Inch, style(11, ink)
	for i, r := range runs {
		line := lineStyle(i)
		line.Width = vg.Points(3)
		c.StrokeLine2(line, x, y+vg.Points(3.5), x+0.28*vg.Inch, y+vg.Points(3.5))
		x += 0.35 * vg.Inch
		c.FillText(st, vg.Point{X: x, Y: y}, r.Name)
		x += st.Width(r.Name) + 0.3*vg.Inch
	}
}

// outcome describes the result of a run.
func outcome(r Run) (title, finding string) {
	last := r.Records[len(r.Records)-1]
	title = fmt.Sprintf("%s, %d passes in %.3g s", r.Name, last.Pass, last.Seconds)
	finding = fmt.Sprintf("objective %.4g", float64(last.Objective))
	if gap := last.RelativeGap(); !math.IsNaN(gap) {
		finding += fmt.Sprintf(", at most %.2g %% above the optimum", 100*gap)
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

func style(points float64, ink color.Color) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(points)},
		Handler: plot.DefaultTextHandler,
	}
}
