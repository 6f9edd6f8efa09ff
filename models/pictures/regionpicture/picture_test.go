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
		Title: "A title", Heads: []string{"image", "mask"}, Columns: 2, Labels: structured.NewAlphabet("ground", strings.Repeat("very ", 40)+"long"),
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
