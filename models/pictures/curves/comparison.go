package curves

import (
	"math"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dsp-go/dsp/models/pictures/canvas"
)

// Comparison is a picture that compares settings: a value against each parameter that varies, one panel per parameter.
type Comparison struct {
	Title   string // states the finding
	Caption string // describes the picture
	Value   string // label of the value's axis
	Legend  string // the property that distinguishes the series; empty with a single series
	Panels  []Panel
}

// Panel shows the value against one parameter.
type Panel struct {
	Label  string   // of the x axis
	Log    bool     // whether the x axis is logarithmic
	Whole  bool     // whether all values are whole numbers
	Names  []string // for a choice: the names of X = 0, 1, …
	Series []Series // the same in every panel if the picture has a legend
}

// Series are points drawn in one colour.
type Series struct {
	Name   string
	Points []Point
	Joined bool // connect the points with a line
}

// Point is a single value, or a mean with its standard deviation; Deviation is 0 or NaN if there is none.
type Point struct{ X, Y, Deviation float64 }

// Sizes of a comparison.
const (
	panelHeight = 3.6 * vg.Inch
	legendRow   = 0.24 * vg.Inch
)

// Write draws the comparison at path, as PNG, SVG or PDF.
func (c *Comparison) Write(path string) error {
	entries := c.legend()
	top := head + vg.Length(len(entries))*legendRow
	rows, _ := c.grid()
	height := panelHeight
	if rows > 1 {
		height = rowHeight * 1.2
	}
	sheet := canvas.Sheet{Width: width, Height: top + vg.Length(rows)*height, DPI: dpi}
	return sheet.File(path, func(area draw.Canvas) { c.draw(area, entries, top) })
}

// grid returns how the panels are arranged.
func (c *Comparison) grid() (rows, columns int) {
	columns = min(len(c.Panels), 2)
	return (len(c.Panels) + columns - 1) / columns, columns
}

func (c *Comparison) draw(area draw.Canvas, entries [][]entry, top vg.Length) {
	rows, columns := c.grid()
	c.drawHead(area, entries)

	low, high := c.values()
	plots := make([][]*plot.Plot, rows)
	for k := range rows * columns {
		var p *plot.Plot
		if k < len(c.Panels) {
			p = c.Panels[k].plot(low, high)
			if k%columns == 0 {
				p.Y.Label.Text = c.Value
			}
		}
		plots[k/columns] = append(plots[k/columns], p)
	}
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: 0.3 * vg.Inch, PadY: 0.18 * vg.Inch,
		PadLeft: 0.1 * vg.Inch, PadRight: 0.2 * vg.Inch, PadBottom: 0.1 * vg.Inch}
	canvases := plot.Align(plots, tiles, draw.Crop(area, 0, 0, 0, -top))
	for i := range plots {
		for j, p := range plots[i] {
			if p != nil {
				p.Draw(canvases[i][j])
			}
		}
	}
}

// entry is an item of the legend.
type entry struct {
	series int // −1: the heading
	text   string
	x      vg.Length
}

// legend lays out the names of the series in rows. It returns none if there is only one series.
func (c *Comparison) legend() [][]entry {
	if c.Legend == "" {
		return nil
	}
	const line, gap = 0.35 * vg.Inch, 0.25 * vg.Inch
	st := style(11, ink)
	left := 0.15 * vg.Inch
	rows := [][]entry{{{-1, c.Legend, left}}}
	start := left + st.Width(c.Legend) + gap
	x := start
	for k, s := range c.Panels[0].Series {
		size := line + st.Width(s.Name) + gap
		if x+size > width && x > start {
			rows = append(rows, nil)
			x = start
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], entry{k, s.Name, x})
		x += size
	}
	return rows
}

func (c *Comparison) drawHead(area draw.Canvas, rows [][]entry) {
	left := area.Min.X + 0.15*vg.Inch
	size := 13.0
	bold := style(size, ink)
	for bold.Font.Weight = stdfont.WeightBold; bold.Width(c.Title) > width-0.3*vg.Inch &&
		size > 8; bold.Font.Weight = stdfont.WeightBold {
		size -= 0.5
		bold = style(size, ink)
	}
	area.FillText(bold, vg.Point{X: left, Y: area.Max.Y - 0.27*vg.Inch}, c.Title)
	area.FillText(style(11, ink), vg.Point{X: left, Y: area.Max.Y - 0.5*vg.Inch}, c.Caption)
	for r, row := range rows {
		drawEntries(area, area.Max.Y-0.76*vg.Inch-vg.Length(r)*legendRow, row)
	}
}

// drawEntries draws one row of a legend with its baseline at y.
func drawEntries(area draw.Canvas, y vg.Length, row []entry) {
	st := style(11, ink)
	for _, e := range row {
		x := area.Min.X + e.x
		if e.series >= 0 {
			mark := lineStyle(e.series)
			mark.Width = vg.Points(3)
			area.StrokeLine2(mark, x, y+vg.Points(3.5), x+0.28*vg.Inch, y+vg.Points(3.5))
			x += 0.35 * vg.Inch
		}
		area.FillText(st, vg.Point{X: x, Y: y}, e.text)
	}
}

// values returns the range of the values and their deviations, with a margin.
func (c *Comparison) values() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, panel := range c.Panels {
		for _, s := range panel.Series {
			for _, p := range s.Points {
				d := deviation(p)
				low, high = math.Min(low, p.Y-d), math.Max(high, p.Y+d)
			}
		}
	}
	if low > high { // no points
		return 0, 1
	}
	r := row{min: low, max: high}
	r.margin()
	return r.min, r.max
}

func deviation(p Point) float64 {
	if math.IsNaN(p.Deviation) {
		return 0
	}
	return p.Deviation
}

func (p *Panel) plot(low, high float64) *plot.Plot {
	to := newPlot()
	to.X.Label.Text = p.Label
	to.Y.Min, to.Y.Max = low, high
	first, last := math.Inf(1), math.Inf(-1)
	for _, s := range p.Series {
		for _, at := range s.Points {
			first, last = math.Min(first, p.place(at.X)), math.Max(last, p.place(at.X))
		}
	}
	switch {
	case p.Names != nil:
		first, last = -0.5, float64(len(p.Names))-0.5
		to.X.Tick.Marker = choices(p.Names)
		to.X.Tick.Length = 0
	case p.Log:
		to.X.Label.Text += " (logarithmic scale)"
		to.X.Tick.Marker = logTicks{}
	case p.Whole:
		to.X.Tick.Marker = ticks{whole: true}
	}
	room := 0.04 * (last - first)
	if room == 0 {
		room = 0.5
	}
	if p.Names != nil {
		room = 0
	}
	to.X.Min, to.X.Max = first-room, last+room
	to.Add(&points{p})
	return to
}

// place returns the axis position of a number.
func (p *Panel) place(x float64) float64 {
	if p.Log {
		return math.Log10(x)
	}
	return x
}

// choices puts names at 0, 1, ….
type choices []string

// Ticks implements plot.Ticker.
func (names choices) Ticks(lo, hi float64) []plot.Tick {
	var list []plot.Tick
	for k, name := range names {
		list = append(list, plot.Tick{Value: float64(k), Label: name})
	}
	return list
}

// points is a plotter of a panel's series.
type points struct{ *Panel }

// Plot implements plot.Plotter.
func (p *points) Plot(c draw.Canvas, on *plot.Plot) {
	tx, ty := on.Transforms(&c)
	for k := len(p.Series) - 1; k >= 0; k-- { // draw the first series last, in front
		s, st := p.Series[k], lineStyle(k)
		shift := vg.Length(float64(k)-float64(len(p.Series)-1)/2) * p.dodge(c, len(p.Series))
		var line []vg.Point
		for _, at := range s.Points {
			x := tx(p.place(at.X)) + shift
			line = append(line, vg.Point{X: x, Y: ty(at.Y)})
			if d := deviation(at); d > 0 {
				bar := draw.LineStyle{Color: st.Color, Width: vg.Points(1)}
				const cap = 3
				lo, hi := ty(at.Y-d), ty(at.Y+d)
				c.StrokeLine2(bar, x, lo, x, hi)
				c.StrokeLine2(bar, x-cap, lo, x+cap, lo)
				c.StrokeLine2(bar, x-cap, hi, x+cap, hi)
			}
		}
		if s.Joined {
			c.StrokeLines(st, c.ClipLinesXY(line)...)
		}
		for _, at := range line {
			c.DrawGlyph(draw.GlyphStyle{Color: st.Color, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}, at)
		}
	}
}

// dodge returns the horizontal offset of a series, so that error bars do not overlap.
func (p *Panel) dodge(c draw.Canvas, series int) vg.Length {
	switch {
	case p.Names != nil:
		between := (c.Max.X - c.Min.X) / vg.Length(len(p.Names))
		return between * vg.Length(math.Min(0.16, 0.7/float64(series)))
	case p.Series[0].Joined:
		return vg.Points(math.Min(4, 16/float64(series)))
	}
	return 0
}

// newPlot returns an empty plot in the style of all pictures.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil // the sheet is white
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font = style(11, ink).Font
		axis.Label.TextStyle.Color = ink
		axis.Label.Padding = vg.Points(5)
		axis.Tick.Label.Font = style(10, ink).Font
		axis.Tick.Label.Color = ink
		axis.Tick.Marker = ticks{}
		axis.Tick.Length = vg.Points(3)
		axis.Tick.Color = ink
		axis.Color = ink
		axis.Padding = 0
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	p.Add(grid)
	return p
}
