package boxpicture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/pictures/canvas"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

func grey(width, height int) image.Image {
	m := image.NewGray(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = 128
	}
	return m
}

// sheet has a right, a wrong and a blind prediction, and an image that is only annotated.
func sheet() Sheet {
	b := func(x, y, w, h float64) boxes.Box { return boxes.Box{X: x, Y: y, Width: w, Height: h} }
	first, second := b(20, 20, 40, 40), b(10, 10, 20, 60)
	return Sheet{Title: "A & B", Columns: 3, Panels: []Panel{
		{Image: grey(100, 80), Caption: "<one>", Gold: &first,
			Found: []boxes.Detection{{Box: b(20, 20, 40, 30), Score: 3.25}, {Box: b(50, 5, 20, 20), Score: 1.5}}},
		{Image: grey(60, 100), Caption: "two", Gold: &second,
			Found: []boxes.Detection{{Box: b(30, 30, 20, 20), Score: -0.5}, {Box: b(30, 30, 21, 21), Score: -1}}},
		{Image: grey(100, 80), Found: []boxes.Detection{{Box: b(0, 0, 100, 80), Score: 7}}},
		{Image: grey(200, 20), Gold: &first},
	}}
}

func TestSVG(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.svg")
	if err := sheet().Write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	words, dashed, pictures := map[string]int{}, 0, 0
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			words[string(token)]++
		case xml.StartElement:
			if token.Name.Local == "image" {
				pictures++
			}
			for _, a := range token.Attr {
				if strings.Contains(a.Value, "stroke-dasharray") {
					dashed++
				}
			}
		}
	}
	for word, n := range map[string]int{
		"A & B": 1, "IoU 0.75 · <one>": 1, "IoU 0.00 · two": 1, "3.25": 1, "1.5": 1, "-0.5": 1, "-1": 1, "7": 1,
		"gold": 1, "predicted": 1, "predicted, IoU above 0.5": 1, "predicted, IoU up to 0.5": 1, "runner-up": 1,
	} {
		if words[word] != n {
			t.Errorf("%q occurs %d times, expected %d: %v", word, words[word], n, words)
		}
	}
	if dashed != 8 || pictures != 4 { // three gold boxes and the legend, each on its shadow
		t.Errorf("%d dashed lines and %d images, expected 8 and 4", dashed, pictures)
	}
}

// In the PNG, the box is where the image's pixels say.
func TestPNG(t *testing.T) {
	b := boxes.Box{X: 25, Y: 20, Width: 50, Height: 40}
	path := filepath.Join(t.TempDir(), "t.png")
	s := Sheet{Panels: []Panel{{Image: grey(100, 75), Found: []boxes.Detection{{Box: b, Score: 1}}}}}
	if err := s.Write(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	blue := image.Rectangle{}
	ground := image.Rectangle{}
	for y := 100; y < m.Bounds().Max.Y; y++ { // below the legend
		for x := range m.Bounds().Max.X {
			pixel := image.Rect(x, y, x+1, y+1)
			c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			if c == canvas.Right {
				blue = blue.Union(pixel)
			}
			if c != (color.NRGBA{255, 255, 255, 255}) {
				ground = ground.Union(pixel)
			}
		}
	}
	scale := float64(panelWidth) * dpi / 72 / 100 // sheet pixels per image pixel
	left, bottom := float64(blue.Min.X)-float64(margin)*dpi/72, float64(ground.Max.Y-blue.Max.Y)
	if math.Abs(left-25*scale) > 4 || math.Abs(float64(blue.Dx())-50*scale) > 7 ||
		math.Abs(float64(blue.Dy())-40*scale) > 7 || math.Abs(bottom-15*scale) > 4 {
		t.Errorf("box %v of image %v at scale %v, expected %v", blue, ground, scale, b)
	}
}

// Whatever stands above the images, they end a gap above the margin: nothing is drawn over another thing or
// leaves the sheet.
func TestSheetsEndAtTheirMargin(t *testing.T) {
	b := boxes.Box{X: 25, Y: 20, Width: 50, Height: 40}
	for _, s := range []Sheet{
		{Panels: []Panel{{Image: grey(100, 75)}}}, {Title: "A", Panels: []Panel{{Image: grey(100, 75)}}},
		{Panels: []Panel{{Image: grey(100, 75), Gold: &b}}},
		{Title: "A", Panels: []Panel{{Image: grey(100, 75), Found: []boxes.Detection{{Box: b}}}}},
	} {
		path := filepath.Join(t.TempDir(), "t.png")
		if err := s.Write(path); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		for y := range m.Bounds().Max.Y {
			for x := range m.Bounds().Max.X {
				if r, g, b, _ := m.At(x, y).RGBA(); r+g+b < 3*0xffff {
					last = y
				}
			}
		}
		if below := float64(m.Bounds().Max.Y-1-last) * 72 / dpi; math.Abs(below-float64(gap+margin)) > 2 {
			t.Errorf("title %q, %d entries of the legend: %g points below the images, expected %g", s.Title,
				len(s.notes()), below, float64(gap+margin))
		}
	}
}

func TestBadSheets(t *testing.T) {
	for want, s := range map[string]Sheet{
		"no images to draw": {}, "image 0 is empty": {Panels: []Panel{{}}}, "as .png, .svg or .pdf": sheet(),
	} {
		path := filepath.Join(t.TempDir(), "t.png")
		if strings.Contains(want, ".svg") {
			path += ".gif"
		}
		if err := s.Write(path); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %s", err, want)
		}
	}
}

// Entries of a legend do not touch: each leaves room for its line, its text, and a gap.
func TestNotesDoNotTouch(t *testing.T) {
	const line, gap = 32, 10
	for _, text := range []string{"gold", "the best of 200 candidates"} {
		if got, least := (note{text: text}).width(), line+small.Width(text)+gap; got < least {
			t.Errorf("%q: %v points wide, expected at least %v", text, got, least)
		}
	}
}
