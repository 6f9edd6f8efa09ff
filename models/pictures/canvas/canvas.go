// Package canvas writes drawings as PNG, SVG or PDF.
package canvas

import (
	"image"
	"image/color"
	"image/png"
	"io"
	"path/filepath"
	"strings"

	"git.sr.ht/~sbinet/gg"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Sheet is the size of a picture.
type Sheet struct {
	Width, Height vg.Length
	DPI           int // resolution of PNG files in pixels per inch; 96 is that of a web page
}

// Kind returns how the name of a picture ends: .png, .svg or .pdf. Another name is bad input.
func Kind(path string) (string, error) {
	kind := strings.ToLower(filepath.Ext(path))
	switch kind {
	case ".png", ".svg", ".pdf":
		return kind, nil
	}
	return "", structured.BadInput("%s: pictures are written as .png, .svg or .pdf", path)
}

// File draws on a white sheet and writes it to path, whole or not at all. The name says the kind.
func (s Sheet) File(path string, paint func(draw.Canvas)) error {
	kind, err := Kind(path)
	if err != nil {
		return err
	}
	return host.WriteFile(path, func(w io.Writer) error { return s.Write(w, kind, paint) })
}

// Write draws on a white sheet and writes it to w, as a picture of that kind.
func (s Sheet) Write(w io.Writer, kind string, paint func(draw.Canvas)) error {
	var out interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch kind {
	case ".svg":
		out = vgsvg.New(s.Width, s.Height)
	case ".pdf":
		out = &outlines{Canvas: vgpdf.New(s.Width, s.Height)}
	default:
		pixels := s.pixels()
		to := gg.NewContextForRGBA(pixels)
		to.SetLineCapButt()
		to.InvertY()
		// white
		paint(draw.NewCanvas(vgimg.NewWith(vgimg.UseImageWithContext(pixels, to), vgimg.UseDPI(s.DPI)), s.Width, s.Height))
		return encode(w, fewColours(pixels))
	}
	area := draw.New(out)
	area.SetColor(color.White)
	area.Fill(area.Rectangle.Path())
	paint(area)
	_, err := out.WriteTo(w)
	return err
}

// pixels returns the image of a sheet. A canvas that makes its own image copies it once, which takes as long as
// drawing.
func (s Sheet) pixels() *image.RGBA {
	dots := func(length vg.Length) int { return int(length.Dots(float64(s.DPI)) + 0.5) }
	return image.NewRGBA(image.Rect(0, 0, dots(s.Width), dots(s.Height)))
}

// encode writes a picture as PNG. Where it has a palette, more compression would save little and take most of the time.
func encode(w io.Writer, picture image.Image) error {
	to := png.Encoder{}
	if _, few := picture.(*image.Paletted); few {
		to.CompressionLevel = png.BestSpeed
	}
	return to.Encode(w, picture)
}
