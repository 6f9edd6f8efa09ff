package regionpicture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

func grey(width, height int) *images.Image {
	return &images.Image{Width: width, Height: height, Pixels: bytes.Repeat([]byte{100}, 3*width*height)}
}

func decoded(t *testing.T, path string) image.Image {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// near reports whether two colours differ little.
func near(a, b color.Color) bool {
	r, g, u, _ := a.RGBA()
	x, y, z, _ := b.RGBA()
	for _, d := range []int{int(r) - int(x), int(g) - int(y), int(u) - int(z)} {
		if max(d, -d) > 3<<8 {
			return false
		}
	}
	return true
}

// An overlay has the image at a whole multiple of its size, painted in the colours that the legend names.
func TestOverlay(t *testing.T) {
	m, mask := grey(100, 50), masks.New(100, 50)
	for i := range mask.Labels {
		switch {
		case i%100 < 40:
			mask.Labels[i] = 1
		case i%100 < 80:
			mask.Labels[i] = 2
		}
	}
	path := filepath.Join(t.TempDir(), "o.png")
	if err := (Overlay{m, mask, structured.NewAlphabet("ground", "stone", "water")}).Write(path); err != nil {
		t.Fatal(err)
	}
	got := decoded(t, path)
	const scale, rim = 4, 28 // the margin is 14 points
	if w := got.Bounds().Dx(); w != 100*scale+2*rim {
		t.Fatalf("%d pixels wide", w)
	}
	painted := Paint(m, mask)
	for _, x := range []int{20, 39, 60, 79, 90} {
		if at := got.At(rim+x*scale+2, rim+20*scale+2); !near(at, painted.At(x, 20)) {
			t.Errorf("pixel %d is %v, expected %v", x, at, painted.At(x, 20))
		}
	}
	legend := 0
	for l := range 3 {
		found := false
		for x := range got.Bounds().Dx() {
			found = found || near(got.At(x, got.Bounds().Dy()-rim-14), masks.Colour(l))
		}
		if found {
			legend++
		}
	}
	if legend != 3 {
		t.Errorf("the legend has %d colours, expected 3", legend)
	}
}

func TestSheet(t *testing.T) {
	dir := t.TempDir()
	mask := masks.New(30, 20)
	for i := range mask.Labels {
		mask.Labels[i] = uint8(i % 3)
	}
	s := Sheet{
		Title: "A title", Heads: []string{"image", "mask"}, Columns: 2,
		Labels: structured.NewAlphabet("ground", strings.Repeat("very ", 40)+"long"),
		Panels: []Panel{{Image: grey(30, 20), Caption: "one"}, {Image: Flat(mask)}, {Image: grey(2, 1)}},
	}
	for _, name := range []string{"s.svg", "s.png"} {
		if err := s.Write(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	svg, err := os.ReadFile(filepath.Join(dir, "s.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"A title", "image", "one", "ground", "…"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the sheet lacks %q", want)
		}
	}
	for name, bad := range map[string]Sheet{"s.gif": s, "e.png": {}, "n.png": {Panels: []Panel{{}}}} {
		if err := bad.Write(filepath.Join(dir, name)); !structured.IsBadInput(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c := Flat(mask).At(1, 0); !near(c, masks.Colour(1)) {
		t.Errorf("label 1 is %v", c)
	}
}

// A sheet is as high as what is on it: below the last line is as little room as above the first, whatever is there.
func TestSheetFits(t *testing.T) {
	black := image.NewGray(image.Rect(0, 0, 40, 30))
	for _, s := range []Sheet{
		{}, {Title: "title"}, {Heads: []string{"one", "two"}}, {Labels: structured.NewAlphabet("ground", "stone")},
		{Title: "title", Heads: []string{"one", "two"}, Labels: structured.NewAlphabet("ground", "stone")},
	} {
		for _, captions := range []int{0, 2} { // of three images
			s.Columns = 2
			s.Panels = []Panel{{Image: black}, {Image: black}, {Image: black}}
			for k := range captions {
				s.Panels[k].Caption = "caption"
			}
			path := filepath.Join(t.TempDir(), "s.png")
			if err := s.Write(path); err != nil {
				t.Fatal(err)
			}
			got := decoded(t, path)
			first, last := -1, 0
			for y := range got.Bounds().Dy() {
				for x := range got.Bounds().Dx() {
					if r, g, b, _ := got.At(x, y).RGBA(); r+g+b < 2<<16 {
						if last = y; first < 0 {
							first = y
						}
					}
				}
			}
			const least, most = 20, 50 // pixels, two for a point; the margin has 28
			if below := got.Bounds().Dy() - 1 - last; first < least || first > most || below < least || below > most {
				t.Errorf("%q, heads %q, legend %v, %d captions: %d pixels above, %d below", s.Title, s.Heads,
					s.Labels != nil, captions, first, below)
			}
		}
	}
}

// Rows of images keep apart, and captions have room between them.
func TestRowsOfSheet(t *testing.T) {
	black := image.NewGray(image.Rect(0, 0, 40, 30))
	for _, c := range []struct {
		captions []string // of three images, two in a row
		want     string   // what stands below each other in the first column: an image, blank, a caption
	}{
		{[]string{"", "", ""}, ".#.#."}, {[]string{"caption", "", ""}, ".#.c.#."},
		{[]string{"", "caption", "caption"}, ".#.#.c."},
	} {
		s := Sheet{Columns: 2}
		for _, caption := range c.captions {
			s.Panels = append(s.Panels, Panel{Image: black, Caption: caption})
		}
		path := filepath.Join(t.TempDir(), "s.png")
		if err := s.Write(path); err != nil {
			t.Fatal(err)
		}
		got, kinds := decoded(t, path), ""
		const left, right = 30, 400 // pixels of the first column
		for y := range got.Bounds().Dy() {
			dark := 0
			for x := left; x < right; x++ {
				if r, g, b, _ := got.At(x, y).RGBA(); r+g+b < 2<<16 {
					dark++
				}
			}
			kind := "c"
			switch dark {
			case 0:
				kind = "."
			case right - left:
				kind = "#"
			}
			if !strings.HasSuffix(kinds, kind) {
				kinds += kind
			}
		}
		if kinds != c.want {
			t.Errorf("captions %q: %s, expected %s", c.captions, kinds, c.want)
		}
	}
}
