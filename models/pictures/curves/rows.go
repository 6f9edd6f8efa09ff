package curves

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dsp-go/dsp/train/record"
)

var (
	ink   = rgb(0x282828)
	faint = rgb(0xe1e1e1)

	// Okabe and Ito's palette, which colour-blind readers can tell apart.
	palette = []color.NRGBA{rgb(0x0072b2), rgb(0xd55e00), rgb(0x009e73), rgb(0xcc79a7), rgb(0xe69f00), rgb(0x56b4e9)}
)

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

func lineStyle(run int) draw.LineStyle {
	st := draw.LineStyle{Color: palette[run%len(palette)], Width: vg.Points(1.8)}
	if run >= len(palette) {
		st.Dashes = []vg.Length{vg.Points(5), vg.Points(2)}
	}
	return st
}

// row is a quantity drawn against passes on the left and against seconds on the right.
type row struct {
	label     string
	log       bool
	value     func(r record.Record) float64
	lower     func(r record.Record) float64 // the other side of a band, or nil
	estimated func(r record.Record) bool    // whether a value is an estimate, or nil
	min       float64                       // range of the panel
	max       float64
}

func objectiveRow(runs []Run) row {
	r := row{
		label: "objective",
		value: func(r record.Record) float64 { return float64(r.Objective) },
		lower: func(r record.Record) float64 { return float64(r.Dual) },
	}
	r.scale(runs, 4)
	bounded := false
	for _, run := range runs {
		if d, ok := finalBound(run); ok {
			bounded = true
			if !r.log {
				r.min = math.Min(r.min, math.Max(d, r.min-0.4*(r.max-r.min)))
			} else if d > 0 {
				r.min = math.Min(r.min, math.Max(d, r.min*math.Pow(r.min/r.max, 0.4)))
			}
		}
	}
	r.margin()
	if bounded {
		r.label = certified("objective, and the certified lower bound of its optimum", runs)
	}
	return r
}

// finalBound returns the last certified lower bound on the optimum. It is false without one, or if it is not above 0,
// which is known of losses that are not negative.
func finalBound(r Run) (float64, bool) {
	for _, rec := range slices.Backward(r.Records) {
		if d := float64(rec.Dual); !math.IsNaN(d) && !math.IsInf(d, 0) {
			return d, d != 0
		}
	}
	return 0, false
}

// certificateRow shows the gap, or the prox-gradient for runs without a certificate. Where a pass has only an estimate
// of its gap, it shows that.
func certificateRow(runs []Run) row {
	r := row{label: "relative gap, certified", value: shownGap}
	for _, run := range runs {
		if slices.ContainsFunc(run.Records, estimatedOnly) {
			r.label, r.estimated = "relative gap, certified (●) or estimated (○)", estimatedOnly
		}
	}
	r.label = certified(r.label, runs)
	if !r.drawn(runs) {
		r = row{label: "prox-gradient norm", value: func(r record.Record) float64 { return float64(r.ProxGradient) }}
	}
	r.log = true
	r.scale(runs, 1)
	r.margin()
	return r
}

// estimatedOnly reports whether the gap of a pass is much smaller by estimate than the certificate, which is that of an
// earlier pass.
func estimatedOnly(r record.Record) bool {
	e := float64(r.EstimatedGap)
	return e != 0 && float64(r.Gap) > 1.5*e
}

// shownGap returns the relative gap of a pass, estimated where it is not certified.
func shownGap(r record.Record) float64 {
	if estimatedOnly(r) {
		return float64(r.EstimatedGap) / math.Abs(float64(r.Objective))
	}
	return r.RelativeGap()
}

func errorRow(runs []Run) row {
	label := ""
	for _, run := range runs {
		for _, rec := range run.Records {
			if name, e := rec.DevError(); !math.IsNaN(e) {
				label = name + " on dev, %"
			}
		}
	}
	r := row{label: label, value: func(r record.Record) float64 { _, e := r.DevError(); return 100 * e }}
	r.scale(runs, 8)
	r.margin()
	return r
}

// drawn reports whether any run has the quantity.
func (r *row) drawn(runs []Run) bool {
	for _, run := range runs {
		for _, rec := range run.Records {
			if r.shows(r.value(rec)) {
				return true
			}
		}
	}
	return false
}

// shows reports whether a number can be drawn.
func (r *row) shows(y float64) bool {
	return !math.IsNaN(y) && !math.IsInf(y, 0) && (!r.log || y > 0)
}

// height returns the axis position of a number: its decimal logarithm if the row is logarithmic.
func (r *row) height(y float64) float64 {
	if r.log {
		return math.Log10(y)
	}
	return y
}

// scale finds the range of the values. If they are positive and span more than a factor, the row is logarithmic.
func (r *row) scale(runs []Run, factor float64) {
	r.min, r.max = math.Inf(1), math.Inf(-1)
	for _, run := range runs {
		for _, rec := range run.Records {
			if y := r.value(rec); r.shows(y) {
				r.min, r.max = math.Min(r.min, y), math.Max(r.max, y)
			}
		}
	}
	if r.min > 0 && r.max > factor*r.min {
		r.log = true
	}
}

// margin leaves room above and below the curves.
func (r *row) margin() {
	if r.log {
		m := math.Max(math.Pow(r.max/r.min, 0.05), 1.02)
		r.min, r.max = r.min/m, r.max*m
		return
	}
	m := 0.05 * (r.max - r.min)
	if m == 0 {
		m = math.Max(math.Abs(r.max)*0.05, 1e-12)
	}
	r.min, r.max = r.min-m, r.max+m
}

// title names the quantity and says whether its axis is logarithmic.
func (r *row) title() string {
	if r.log {
		return r.label + "; logarithmic scale"
	}
	return r.label
}

// boundStyle is how the lower bound of a run is drawn.
func boundStyle(run int) draw.LineStyle {
	st := lineStyle(run)
	st.Width, st.Dashes = vg.Points(1), []vg.Length{vg.Points(3), vg.Points(2)}
	return st
}

// panels returns the row's two plots. In the last row they name the x axes.
func (r *row) panels(runs []Run, last bool) []*plot.Plot {
	passes := r.panel(runs, func(r record.Record) float64 { return float64(r.Pass) })
	seconds := r.panel(runs, func(r record.Record) float64 { return r.Seconds })
	passes.X.Tick.Marker = ticks{whole: true}
	if last {
		passes.X.Label.Text = "passes"
		seconds.X.Label.Text = "seconds of training"
	}
	return []*plot.Plot{passes, seconds}
}

func (r *row) panel(runs []Run, x func(record.Record) float64) *plot.Plot {
	p := newPlot()
	if r.log {
		p.Y.Tick.Marker = logTicks{}
	}
	p.X.Min, p.X.Max = 0, 0
	for i := len(runs) - 1; i >= 0; i-- {
		for _, rec := range runs[i].Records {
			p.X.Max = math.Max(p.X.Max, x(rec))
		}
		p.Add(&curve{row: r, run: runs[i], x: x, style: lineStyle(i), bound: boundStyle(i)})
	}
	if p.X.Max == 0 {
		p.X.Max = 1
	}
	p.X.Max *= 1.02
	p.Y.Min, p.Y.Max = r.height(r.min), r.height(r.max)
	return p
}

// curve is a plotter of one run in one panel: a line over a band.
type curve struct {
	row   *row
	run   Run
	x     func(record.Record) float64
	style draw.LineStyle
	bound draw.LineStyle
}

// Plot implements plot.Plotter.
func (v *curve) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	floor := v.row.min - (v.row.max - v.row.min) // below the panel but not far
	if v.row.log {
		floor = v.row.min * v.row.min / v.row.max
	}
	var line, band []vg.Point
	var hollow []bool
	for _, rec := range v.run.Records {
		y := v.row.value(rec)
		if !v.row.shows(y) {
			continue
		}
		at := vg.Point{X: tx(v.x(rec)), Y: ty(v.row.height(y))}
		line = append(line, at)
		hollow = append(hollow, v.row.estimated != nil && v.row.estimated(rec))
		if v.row.lower == nil {
			continue
		}
		if low := v.row.lower(rec); !math.IsNaN(low) && low != 0 {
			band = append(band, vg.Point{X: at.X, Y: ty(v.row.height(math.Max(low, floor)))})
		}
	}
	if v.row.lower != nil {
		if d, ok := finalBound(v.run); ok && v.row.shows(d) {
			y := ty(v.row.height(math.Max(d, floor)))
			c.StrokeLines(v.bound, c.ClipLinesXY([]vg.Point{{X: c.Min.X, Y: y}, {X: c.Max.X, Y: y}})...)
		}
	}
	if len(band) == len(line) && len(band) > 1 {
		shade := v.style.Color.(color.NRGBA)
		shade.A = 40
		around := append([]vg.Point(nil), line...)
		for i := len(band) - 1; i >= 0; i-- {
			around = append(around, band[i])
		}
		c.FillPolygon(shade, c.ClipPolygonXY(around))
	}
	c.StrokeLines(v.style, c.ClipLinesXY(line)...)
	if len(line) <= 30 {
		for k, at := range line {
			c.DrawGlyph(draw.GlyphStyle{Color: v.style.Color, Radius: vg.Points(2.2), Shape: draw.CircleGlyph{}}, at)
			if hollow[k] {
				c.DrawGlyph(draw.GlyphStyle{Color: color.White, Radius: vg.Points(1.3), Shape: draw.CircleGlyph{}}, at)
			}
		}
	}
}
