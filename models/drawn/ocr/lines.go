package ocr

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/models/data/lines"
	"github.com/dsp-go/dsp/models/drawn/sentences"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// TextLines generates lines of one to three words as grey images, 16 pixels high and as wide as the line: letters of
// the Go fonts in a hand that changes from line to line, stretched, slanted and bent, close to each other. Where a
// letter ends and the next begins has to be found.
type TextLines struct {
	Train, Dev, Test int     // number of lines
	Difficulty       float64 // strength of the distortions: 0 clean, 1 default, 2 hardly legible
	Seed             uint64  // the same seed gives the same lines
}

// DefaultTextLines is sized for a first run.
func DefaultTextLines() TextLines {
	return TextLines{Train: 1500, Dev: 300, Test: 300, Difficulty: 1, Seed: 1}
}

// LineSets are the names of the three sets.
var LineSets = []string{"train", "dev", "test"}

// Validate returns an error about the first field that is out of range.
func (o TextLines) Validate() error {
	return OCRWords{Train: o.Train, Dev: o.Dev, Test: o.Test, Difficulty: o.Difficulty}.Validate()
}

// Line is an image of a line, dark on light, and what it reads.
type Line struct {
	Name  string // of the file
	Image *image.Gray
	Text  string
}

// Set draws the lines of one of the sets. A tenth of the word list occurs in the test set only. Each line has its own
// generator, so that it does not depend on the lines before it.
func (o TextLines) Set(set int) []Line {
	words := sentences.NewWordSampler(OCRWords{Seed: o.Seed}.trainingWords())
	if set == 2 {
		words = sentences.NewWordSampler(sentences.English())
	}
	all := make([]Line, []int{o.Train, o.Dev, o.Test}[set])
	for i := range all {
		rng := rand.New(rand.NewPCG(o.Seed, (16+uint64(set))<<32+uint64(i)))
		text := words.Draw(rng)
		for range rng.IntN(3) {
			text += " " + words.Draw(rng)
		}
		all[i] = Line{fmt.Sprintf("%s-%04d.png", LineSets[set], i+1),
			newHand(o.Difficulty, rng).line(text, o.Difficulty, rng), text}
	}
	return all
}

// WriteTextLines draws the sets and writes each to a folder of images with a file lines.txt (package lines), which has
// the name of an image and what it reads on each line, separated by a tab.
func WriteTextLines(dir string, o TextLines) error {
	if err := o.Validate(); err != nil {
		return err
	}
	for set, name := range LineSets {
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		var list strings.Builder
		for _, l := range o.Set(set) {
			fmt.Fprintf(&list, "%s\t%s\n", l.Name, l.Text)
			if err := host.WriteFile(filepath.Join(folder, l.Name),
				func(w io.Writer) error { return png.Encode(w, l.Image) }); err != nil {
				return err
			}
		}
		err := host.WriteFile(filepath.Join(folder, lines.Listing), func(w io.Writer) error {
			_, err := io.WriteString(w, list.String())
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// placed is a letter on a line.
type placed struct {
	*glyph
	left, right float64 // pixels that it may have ink in
	x, y        float64 // its centre on the line
	centre      float64 // its centre in the glyph's own image
	scale       float64 // horizontally
	shear       float64
	thickness   float64
}

// ink returns the signed distance to the letter's outline of a point on the line.
func (p *placed) ink(x, y float64) float64 {
	y -= p.y
	return p.at((x-p.x)/p.scale+p.shear*(y-letterRows/2)+p.centre, y) + p.thickness
}

// extent returns the columns of a letter's image between which there is ink.
func (g *glyph) extent() (from, to float64) {
	from, to = letterCols, 0
	for i, d := range g {
		if d > 0 {
			x := float64(i%fieldCols)/fieldScale - fieldMargin
			from, to = min(from, x), max(to, x+1./fieldScale)
		}
	}
	return from, to
}

// line draws a text of small letters and blanks.
func (h hand) line(text string, difficulty float64, rng *rand.Rand) *image.Gray {
	amount := func(spread float64) float64 { return spread * difficulty * clippedNormal(rng) }
	var letters []placed
	stretch := math.Exp(amount(0.12))
	x := 1 + 3*rng.Float64()
	for _, c := range []byte(text) {
		if c == ' ' {
			x += 4 + 2*rng.Float64()
			continue
		}
		g := h.face.letter(int(c - 'a'))
		from, to := g.extent()
		scale := stretch * math.Exp(amount(0.07))
		half := scale * (to - from) / 2
		x += half
		letters = append(letters, placed{
			glyph: g, left: x - half - 3, right: x + half + 3, x: x, y: amount(0.4), centre: (from + to) / 2, scale: scale,
			shear: h.slant + amount(0.06), thickness: h.thickness + amount(0.06),
		})
		x += half + max(0.6, 1+amount(0.25))
	}
	width := int(math.Ceil(x + 1 + 3*rng.Float64()))
	drift := newWave(rng, amount(0.4))
	softness, noise := 0.5+math.Abs(amount(0.3)), 0.1*difficulty
	page := image.NewGray(image.Rect(0, 0, width, letterRows))
	for c := range width {
		for r := range letterRows {
			ink := 0.0
			for s := range 4 { // four samples per pixel
				x, y := float64(c)+0.25+0.5*float64(s%2), float64(r)+0.25+0.5*float64(s/2)
				y += drift.at(x/4, 0)
				most := math.Inf(-1)
				for k := range letters {
					if p := &letters[k]; x > p.left && x < p.right {
						most = max(most, p.ink(x, y))
					}
				}
				ink += 0.25 * min(max(0.5+most/(2*softness), 0), 1)
			}
			ink = ink*h.contrast + noise*rng.NormFloat64()
			page.SetGray(c, r, color.Gray{uint8(math.Round(255 * (1 - min(max(ink, 0), 1))))})
		}
	}
	return page
}
