// Package treepicture draws dependency trees: arcs above the words, as SVG or PNG.
package treepicture

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dsp-go/dsp/models/pictures/canvas"
	"github.com/dsp-go/dsp/structured"
)

// Sentence is a tree to draw. Slices have one entry per word; heads count from 1, 0 for the root.
type Sentence struct {
	Words     []string  // [n]
	Tags      []string  // [n] written below the words, or nil
	Heads     []int32   // [n]
	Relations []string  // [n]
	Certainty []float32 // [n] probability of each arc, shown by width and colour; nil: all 1

	GoldHeads     []int32  // [n] for comparison: wrong arcs get another colour, and missed gold arcs are dashed; or nil
	GoldRelations []string // [n] or nil
}

// Picture shows several trees, one below the other.
type Picture struct {
	Title     string // heading, or ""
	Sentences []Sentence
}

// Sizes.
const (
	dpi       = 144
	margin    = vg.Length(14)
	wordSize  = 12.0 // points
	smallSize = 9.0
	levelStep = vg.Length(19) // vertical distance between arc levels
	endStep   = vg.Length(5)  // distance between the ends of arcs at a word
	wordGap   = vg.Length(13)
	corner    = vg.Length(7) // radius
	headRoom  = vg.Length(24)
)

var grey = color.NRGBA{0x70, 0x70, 0x70, 255}

// Write draws the picture into a file whose name ends in .svg, .png or .pdf.
func (p Picture) Write(path string) error {
	for _, s := range p.Sentences {
		if err := s.check(); err != nil {
			return err
		}
	}
	layouts := make([]*layout, len(p.Sentences))
	notes := p.notes()
	width, height := vg.Length(0), 2*margin
	if p.Title != "" {
		width, height = canvas.Bold(wordSize).Width(p.Title), height+18
	}
	for _, n := range notes {
		height += 15
		width = max(width, canvas.Style(smallSize+1, canvas.Ink).Width(n.text)+34)
	}
	for k := range p.Sentences {
		layouts[k] = newLayout(&p.Sentences[k])
		width = max(width, layouts[k].width)
		height += layouts[k].height + margin
	}
	width += 2 * margin
	return canvas.Sheet{Width: width, Height: height, DPI: dpi}.File(path, func(area draw.Canvas) {
		y := area.Max.Y - margin
		if p.Title != "" {
			y -= 12
			area.FillText(canvas.Bold(wordSize), vg.Point{X: margin, Y: y}, p.Title)
			y -= 6
		}
		for _, n := range notes {
			y -= 12
			n.draw(area, y)
			y -= 3
		}
		for _, l := range layouts {
			y -= margin
			l.draw(area, vg.Point{X: margin, Y: y - l.height})
			y -= l.height
		}
	})
}

func (s *Sentence) check() error {
	n := len(s.Words)
	for name, length := range map[string]int{
		"heads": len(s.Heads), "relations": len(s.Relations), "tags": orAll(s.Tags, n),
		"probabilities": orAll(s.Certainty, n), "gold heads": orAll(s.GoldHeads, n),
		"gold relations": orAll(s.GoldRelations, n),
	} {
		if length != n {
			return structured.BadInput("picture of %d words: %d %s, expected %d", n, length, name, n)
		}
	}
	for _, h := range slices.Concat(s.Heads, s.GoldHeads) {
		if h < 0 || int(h) > n {
			return structured.BadInput("picture of %d words: head %d, expected 0 to %d", n, h, n)
		}
	}
	return nil
}

// orAll returns the length of a slice, or n if it is nil.
func orAll[T any](s []T, n int) int {
	if s == nil {
		return n
	}
	return len(s)
}

// note is an entry of the legend.
type note struct {
	line draw.LineStyle
	text string
}

func (n note) draw(area draw.Canvas, y vg.Length) {
	area.StrokeLine2(n.line, margin, y+3.5, margin+26, y+3.5)
	area.FillText(canvas.Style(smallSize+1, canvas.Ink), vg.Point{X: margin + 34, Y: y}, n.text)
}

// notes returns the legend of the colours that occur.
func (p Picture) notes() []note {
	var notes []note
	certain, compared := true, false
	for _, s := range p.Sentences {
		certain = certain && s.Certainty == nil
		compared = compared || s.GoldHeads != nil
	}
	switch {
	case !certain && compared:
		notes = append(notes, note{arcLine(canvas.Right, 1), "right arc; the paler and thinner, the less probable"})
	case !certain:
		notes = append(notes, note{arcLine(canvas.Right, 1), "arc; the paler and thinner, the less probable"})
	case compared:
		notes = append(notes, note{arcLine(canvas.Right, 1), "right arc"})
	}
	if compared {
		notes = append(notes, note{arcLine(canvas.Wrong, 1), "wrong arc, or wrong relation with the gold one in brackets"},
			note{goldLine(), "gold arc that was missed"})
	}
	return notes
}

func arcLine(c color.NRGBA, probability float32) draw.LineStyle {
	p := min(max(float64(probability), 0), 1)
	return draw.LineStyle{Color: pale(c, p), Width: vg.Points(0.6 + 1.2*p)}
}

func goldLine() draw.LineStyle {
	return draw.LineStyle{Color: canvas.Gold, Width: vg.Points(1.3), Dashes: []vg.Length{4, 3}}
}

// pale blends a colour with white, more for lower probabilities. Opaque colours keep crossings as pale as the lines.
func pale(c color.NRGBA, probability float64) color.NRGBA {
	strength := 0.3 + 0.7*probability
	mix := func(v uint8) uint8 { return uint8(255 - strength*(255-float64(v)) + 0.5) }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}
