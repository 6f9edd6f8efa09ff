package curves

import (
	"fmt"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dsp-go/dsp/models/pictures/canvas"
)

// UnitSquare is a picture of ratios against ratios, such as precision against recall: both axes go from 0 to 1.
type UnitSquare struct {
	Title    string // states the finding
	Caption  string // says what is shown
	X, Y     string // labels of the axes
	Diagonal string // what the diagonal stands for; empty: it is not drawn
	Lines    []SquareLine
	Bars     []SquareBar // behind the lines
	BarsName string      // what the heights of bars are
}

// SquareLine is a curve with marked points.
type SquareLine struct {
	Name   string // empty: it is not in the legend
	Points []SquarePoint
	Loose  bool // the points are not joined
}

// SquarePoint is a point of a curve. It is marked by a dot if it has a label, or Dot is set.
type SquarePoint struct {
	X, Y  float64
	Label string
	Dot   bool
}

// SquareBar is a bar from the x axis.
type SquareBar struct{ From, To, Height float64 }

// Write draws the picture at path, as PNG, SVG or PDF.
func (s *UnitSquare) Write(path string) error {
	return canvas.Sheet{Width: squareWidth, Height: squareHeight, DPI: dpi}.File(path, s.draw)
}

// Size of the picture, and the height of what stands above its panel.
const (
	squareWidth  = 5.6 * vg.Inch
	squareHeight = 5.9 * vg.Inch
	squareHead   = 0.9 * vg.Inch
)

func (s *UnitSquare) draw(area draw.Canvas) {
	left, bold := area.Min.X+0.15*vg.Inch, style(13, ink)
	bold.Font.Weight = stdfont.WeightBold
	fit(&bold, s.Title)
	area.FillText(bold, vg.Point{X: left, Y: area.Max.Y - 0.27*vg.Inch}, s.Title)
	caption := style(11, ink)
	fit(&caption, s.Caption)
	area.FillText(caption, vg.Point{X: left, Y: area.Max.Y - 0.5*vg.Inch}, s.Caption)
	s.legend(area, left, area.Max.Y-0.76*vg.Inch)

	p := newPlot()
	p.X.Label.Text, p.Y.Label.Text = s.X, s.Y
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.Add(s)
	p.Draw(draw.Crop(area, 0.1*vg.Inch, -0.25*vg.Inch, 0.1*vg.Inch, -squareHead))
}

// fit makes a text small enough for the picture.
func fit(st *text.Style, text string) {
	for st.Width(text) > squareWidth-0.3*vg.Inch && st.Font.Size > 7 {
		st.Font.Size -= 0.5
	}
}

// legend names the lines, the diagonal and the bars.
func (s *UnitSquare) legend(area draw.Canvas, x, y vg.Length) {
	st := style(10, ink)
	add := func(name string, mark func(from, to vg.Length)) {
		if name == "" {
			return
		}
		mark(x, x+0.24*vg.Inch)
		x += 0.3 * vg.Inch
		area.FillText(st, vg.Point{X: x, Y: y}, name)
		x += st.Width(name) + 0.2*vg.Inch
	}
	for k, l := range s.Lines {
		add(l.Name, func(from, to vg.Length) {
			if l.Loose {
				area.DrawGlyph(dot(k, 3.5), vg.Point{X: (from + to) / 2, Y: y + vg.Points(3.5)})
				return
			}
			area.StrokeLine2(lineStyle(k), from, y+vg.Points(3.5), to, y+vg.Points(3.5))
		})
	}
	add(s.Diagonal, func(from, to vg.Length) {
		area.StrokeLine2(diagonalStyle, from, y+vg.Points(3.5), to, y+vg.Points(3.5))
	})
	if len(s.Bars) > 0 {
		add(s.BarsName, func(from, to vg.Length) {
			area.FillPolygon(barColor, []vg.Point{{X: from, Y: y}, {X: to, Y: y}, {X: to, Y: y + vg.Points(7)},
				{X: from, Y: y + vg.Points(7)}})
		})
	}
}

var (
	diagonalStyle = draw.LineStyle{Color: rgb(0x888888), Width: vg.Points(1),
		Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
	barColor = rgb(0xd9e6ef)
)

func dot(line int, radius float64) draw.GlyphStyle {
	return draw.GlyphStyle{Color: palette[line%len(palette)], Radius: vg.Points(radius), Shape: draw.CircleGlyph{}}
}

// Plot implements plot.Plotter.
func (s *UnitSquare) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	at := func(x, y float64) vg.Point { return vg.Point{X: tx(x), Y: ty(y)} }
	for _, b := range s.Bars {
		c.FillPolygon(barColor, []vg.Point{at(b.From, 0), at(b.To, 0), at(b.To, b.Height), at(b.From, b.Height)})
	}
	if s.Diagonal != "" {
		c.StrokeLines(diagonalStyle, []vg.Point{at(0, 0), at(1, 1)})
	}
	labels := style(9, ink)
	for k := len(s.Lines) - 1; k >= 0; k-- { // the first is drawn last, in front
		var line []vg.Point
		for _, q := range s.Lines[k].Points {
			line = append(line, at(q.X, q.Y))
		}
		if !s.Lines[k].Loose {
			c.StrokeLines(lineStyle(k), line)
		}
		for i, q := range s.Lines[k].Points {
			if q.Dot || q.Label != "" {
				c.DrawGlyph(dot(k, 2.8), line[i])
			}
			if q.Label == "" {
				continue
			}
			place := vg.Point{X: line[i].X + vg.Points(5), Y: line[i].Y + vg.Points(4)}
			if place.Y+vg.Points(9) > c.Max.Y {
				place.Y = line[i].Y - vg.Points(11)
			}
			if w := labels.Width(q.Label); place.X+w > c.Max.X || q.X > 0.5 {
				place = vg.Point{X: line[i].X - vg.Points(5) - w, Y: line[i].Y - vg.Points(11)}
			}
			c.FillText(labels, place, q.Label)
		}
	}
}

// Percent formats a share for titles.
func Percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
