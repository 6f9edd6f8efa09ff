package curves

import (
	"image/color"
	"math"
	"slices"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dsp-go/dsp/models/pictures/canvas"
)

// Bands is a picture of curves with their spread: one row for each study, one column for each quantity.
type Bands struct {
	Title   string // states the finding
	Caption string // says what line and band are
	Rows    []BandRow
}

// BandRow is a row of panels that show the same curves. Its legend stands above it unless the row before has the same
// one.
type BandRow struct {
	Title  string
	Panels []BandPanel
}

// BandPanel shows one quantity.
type BandPanel struct {
	X, Y   string // labels of the axes
	Log    bool   // the y axis is logarithmic; it also is where positive values span more than a factor of ten
	Series []Band // the same curves in every panel of a row
}

// Band is a curve with its spread.
type Band struct {
	Name   string
	Points []BandPoint
}

// BandPoint is the middle and the spread of a quantity at X.
type BandPoint struct{ X, Low, Middle, High float64 }

// Write draws the picture at path, as PNG, SVG or PDF.
func (b *Bands) Write(path string) error {
	heads, tops, height := b.layout()
	return canvas.Sheet{Width: width, Height: height, DPI: dpi}.File(path, func(area draw.Canvas) {
		b.draw(area, heads, tops)
	})
}

// Heights in a picture of bands.
const (
	bandHead = 0.68 * vg.Inch
	rowTitle = 0.27 * vg.Inch
)

// layout returns the legend of each row, nil if it has none, the height above its panels, and the height of the
// picture.
func (b *Bands) layout() (heads [][][]entry, tops []vg.Length, height vg.Length) {
	heads, tops, height = make([][][]entry, len(b.Rows)), make([]vg.Length, len(b.Rows)), bandHead
	for i, r := range b.Rows {
		if i == 0 || !slices.Equal(r.names(), b.Rows[i-1].names()) {
			heads[i] = r.legend()
		}
		tops[i] = vg.Length(len(heads[i])) * legendRow
		if r.Title != "" {
			tops[i] += rowTitle
		}
		height += tops[i] + rowHeight
	}
	return heads, tops, height
}

func (b *Bands) draw(area draw.Canvas, heads [][][]entry, tops []vg.Length) {
	left := area.Min.X + 0.15*vg.Inch
	bold := style(13, ink)
	for bold.Font.Weight = stdfont.WeightBold; bold.Width(b.Title) > width-0.3*vg.Inch &&
		bold.Font.Size > 8; bold.Font.Weight = stdfont.WeightBold {
		bold = style(float64(bold.Font.Size)-0.5, ink)
	}
	area.FillText(bold, vg.Point{X: left, Y: area.Max.Y - 0.27*vg.Inch}, b.Title)
	area.FillText(style(11, ink), vg.Point{X: left, Y: area.Max.Y - 0.5*vg.Inch}, b.Caption)
	y := area.Max.Y - bandHead
	for i, r := range b.Rows {
		r.drawHead(area, y, heads[i])
		y -= tops[i]
		r.drawPanels(draw.Crop(area, 0, 0, y-rowHeight-area.Min.Y, y-area.Max.Y))
		y -= rowHeight
	}
}

func (r *BandRow) names() []string {
	var all []string
	for _, s := range r.Panels[0].Series {
		all = append(all, s.Name)
	}
	return all
}

// legend lays out the names of the curves in rows.
func (r *BandRow) legend() [][]entry {
	c := Comparison{Legend: " ", Panels: []Panel{{}}}
	for _, name := range r.names() {
		c.Panels[0].Series = append(c.Panels[0].Series, Series{Name: name})
	}
	return c.legend()
}

// drawHead writes the title of the row and the legend, from y downwards.
func (r *BandRow) drawHead(area draw.Canvas, y vg.Length, rows [][]entry) {
	if r.Title != "" {
		bold := style(11, ink)
		bold.Font.Weight = stdfont.WeightBold
		area.FillText(bold, vg.Point{X: area.Min.X + 0.15*vg.Inch, Y: y - 0.16*vg.Inch}, r.Title)
		y -= rowTitle
	}
	for k, row := range rows {
		drawEntries(area, y-0.14*vg.Inch-vg.Length(k)*legendRow, row)
	}
}

// drawPanels draws the panels side by side.
func (r *BandRow) drawPanels(area draw.Canvas) {
	var plots []*plot.Plot
	for _, p := range r.Panels {
		plots = append(plots, p.plot())
	}
	tiles := draw.Tiles{Rows: 1, Cols: len(plots), PadX: 0.25 * vg.Inch,
		PadLeft: 0.1 * vg.Inch, PadRight: 0.2 * vg.Inch, PadTop: 0.05 * vg.Inch, PadBottom: 0.1 * vg.Inch}
	canvases := plot.Align([][]*plot.Plot{plots}, tiles, area)
	for k, p := range plots {
		p.Draw(canvases[0][k])
	}
}

func (p *BandPanel) plot() *plot.Plot {
	r := p.row()
	to := newPlot()
	to.X.Label.Text, to.Y.Label.Text = p.X, p.Y
	if r.log {
		to.Y.Tick.Marker = logTicks{}
	}
	to.X.Min, to.X.Max = 0, 0
	for k := len(p.Series) - 1; k >= 0; k-- { // the first is drawn last, in front
		for _, at := range p.Series[k].Points {
			to.X.Max = math.Max(to.X.Max, at.X)
		}
		to.Add(&band{row: &r, points: p.Series[k].Points, style: lineStyle(k)})
	}
	if to.X.Max == 0 {
		to.X.Max = 1
	}
	to.X.Max *= 1.02
	to.Y.Min, to.Y.Max = r.height(r.min), r.height(r.max)
	return to
}

// row returns the range of the y axis. A curve that shoots up, such as one that diverges, leaves it: the axis ends at
// ten times the median of the curves' highest points, or three times if it is linear.
func (p *BandPanel) row() row {
	r := row{min: math.Inf(1), max: math.Inf(-1), log: p.Log}
	var tops []float64
	for _, s := range p.Series {
		top := math.Inf(-1)
		for _, at := range s.Points {
			if r.shows(at.Middle) {
				r.min, top = math.Min(r.min, at.Middle), math.Max(top, at.Middle)
			}
		}
		if !math.IsInf(top, 0) {
			tops, r.max = append(tops, top), math.Max(r.max, top)
		}
	}
	if tops == nil {
		return row{min: 0, max: 1}
	}
	slices.Sort(tops)
	r.log = r.log || r.min > 0 && r.max > 10*r.min
	factor := 3.0
	if r.log {
		factor = 10
	}
	if high := tops[len(tops)/2]; high > 0 {
		r.max = math.Min(r.max, factor*high)
	}
	r.margin()
	return r
}

// band is a plotter of one curve: a line over its spread.
type band struct {
	row    *row
	points []BandPoint
	style  draw.LineStyle
}

// Plot implements plot.Plotter.
func (v *band) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	place := func(x, y float64) vg.Point {
		reach := v.row.max - v.row.min // beyond the panel but not far
		low, high := v.row.min-reach, v.row.max+reach
		if v.row.log {
			low, high = v.row.min*v.row.min/v.row.max, v.row.max*v.row.max/v.row.min
		}
		return vg.Point{X: tx(x), Y: ty(v.row.height(math.Max(low, math.Min(high, y))))}
	}
	var line, around []vg.Point
	for _, at := range v.points {
		if v.row.shows(at.Middle) {
			line, around = append(line, place(at.X, at.Middle)), append(around, place(at.X, at.High))
		}
	}
	for _, at := range slices.Backward(v.points) {
		if v.row.shows(at.Middle) {
			around = append(around, place(at.X, at.Low))
		}
	}
	if len(line) > 1 {
		shade := v.style.Color.(color.NRGBA)
		shade.A = 45
		c.FillPolygon(shade, c.ClipPolygonXY(around))
	}
	c.StrokeLines(v.style, c.ClipLinesXY(line)...)
	if len(line) == 1 {
		c.DrawGlyph(draw.GlyphStyle{Color: v.style.Color, Radius: vg.Points(2.2), Shape: draw.CircleGlyph{}}, line[0])
	}
}
