package ocr

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Layout of a sheet, in pixels.
const (
	sheetScale  = 4 // sheet pixels per letter pixel
	sheetGap    = 2 // between letters
	sheetMargin = 14
	sheetWidth  = 1200
	sheetLine   = letterRows*sheetScale + 32 // letters, caption and space
	sheetLines  = 8
)

var (
	paper = color.Gray{0xff}
	ink   = color.Gray{0x30}
	frame = color.Gray{0xd8}
)

// A sheet is a page of words, laid out from left to right and line by line, each word above its caption.
type sheet struct {
	page *image.Gray
	text font.Drawer
	x, y int // position of the next word
}

func newSheet() *sheet {
	page := image.NewGray(image.Rect(0, 0, sheetWidth, sheetLines*sheetLine+sheetMargin))
	draw.Draw(page, page.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic(err) // the font is embedded, so this cannot fail
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 15, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		panic(err)
	}
	text := font.Drawer{Dst: page, Src: image.NewUniform(ink), Face: face}
	return &sheet{page: page, text: text, x: sheetMargin, y: sheetMargin}
}

// newLine starts a new line.
func (s *sheet) newLine() { s.x, s.y = sheetMargin, s.y+sheetLine }

// label writes text at the start of a line.
func (s *sheet) label(text string) {
	s.text.Dot = fixed.P(s.x, s.y+letterRows*sheetScale*2/3)
	s.text.DrawString(text)
	s.x += s.text.MeasureString(text).Ceil() + sheetMargin
}

// word puts example i of d above its spelling. It returns false if the sheet is full.
func (s *sheet) word(d *structured.Dataset, i int) bool {
	const step = letterCols*sheetScale + sheetGap
	if s.x > sheetMargin && s.x+d.Length(i)*step+sheetMargin > sheetWidth {
		s.newLine()
	}
	if s.y >= sheetLines*sheetLine {
		return false
	}
	s.text.Dot = fixed.P(s.x, s.y+letterRows*sheetScale+16)
	s.text.DrawString(spelling(d, i))
	for t := d.Offsets[i]; t < d.Offsets[i+1]; t++ {
		box := image.Rect(s.x, s.y, s.x+letterCols*sheetScale, s.y+letterRows*sheetScale)
		s.fill(box.Inset(-1), frame)
		for p, v := range d.Features[t*d.Dim : (t+1)*d.Dim] {
			at := box.Min.Add(image.Pt(p%letterCols*sheetScale, p/letterCols*sheetScale))
			s.fill(image.Rectangle{at, at.Add(image.Pt(sheetScale, sheetScale))}, color.Gray{uint8(255 - 255*v)})
		}
		s.x += step
	}
	s.x += sheetMargin
	return true
}

func (s *sheet) fill(box image.Rectangle, c color.Color) {
	draw.Draw(s.page, box, image.NewUniform(c), image.Point{}, draw.Src)
}

// write writes the page, cut off below its last line.
func (s *sheet) write(path string) error {
	used := s.page.Bounds()
	used.Max.Y = min(used.Max.Y, s.y+sheetLine)
	return host.WriteFile(path, func(w io.Writer) error { return png.Encode(w, s.page.SubImage(used)) })
}

// spelling returns the gold text of a word.
func spelling(d *structured.Dataset, i int) string {
	text := ""
	for _, l := range d.Gold(i) {
		text += d.Alphabet.Name(l)
	}
	return text
}

// WriteOCR generates the words and writes them into dir: train.data, dev.data and test.data in the layout of
// ReadLetters (folds 0, 1 and 2), train.png, dev.png and test.png with the first words of each, and difficulty.png with
// a few words at growing difficulty.
func WriteOCR(dir string, o OCRWords) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	train, dev, test := o.Generate()
	for fold, split := range []struct {
		name string
		d    *structured.Dataset
	}{{"train", train}, {"dev", dev}, {"test", test}} {
		path := filepath.Join(dir, split.name)
		if err := host.WriteFile(path+".data", func(w io.Writer) error {
			return WriteLetters(w, split.d, fold)
		}); err != nil {
			return err
		}
		if err := writeWordSheet(path+".png", split.d); err != nil {
			return err
		}
	}
	return o.writeDifficultySheet(filepath.Join(dir, "difficulty.png"))
}

func writeWordSheet(path string, d *structured.Dataset) error {
	s := newSheet()
	for i := range d.Len() {
		if !s.word(d, i) {
			break
		}
	}
	return s.write(path)
}

// writeDifficultySheet draws the same words in the same hands at difficulties 0 to 2, one line per difficulty.
func (o OCRWords) writeDifficultySheet(path string) error {
	s := newSheet()
	for line, level := range []float64{0, 0.5, 1, 1.5, 2} {
		if line > 0 {
			s.newLine()
		}
		s.label(fmt.Sprintf("difficulty %.1f", level))
		o.Difficulty, o.Train, o.Dev, o.Test = level, 6, 0, 0
		d, _, _ := o.Generate()
		for i := range d.Len() {
			s.word(d, i)
		}
	}
	return s.write(path)
}
