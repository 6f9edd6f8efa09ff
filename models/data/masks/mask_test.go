package masks

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

func encoded(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Labels and colours survive writing and reading, for masks of both kinds and palettes of any size.
func TestRoundTrip(t *testing.T) {
	labels := []uint8{0, 1, 2, 255, 254, 7}
	for name, palette := range map[string]color.Palette{"grey": nil, "own": Palette(),
		"short": {color.RGBA{9, 8, 7, 255}, color.RGBA{1, 2, 3, 255}}} {
		m := &Mask{Width: 3, Height: 2, Labels: labels, Palette: palette}
		path := filepath.Join(t.TempDir(), "m.png")
		if err := m.Write(path); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if got.Width != 3 || got.Height != 2 || !slices.Equal(got.Labels, labels) ||
			(got.Palette == nil) != (palette == nil) {
			t.Errorf("%s: read %+v", name, got)
		}
		for l, c := range palette {
			if got.Palette[l] != c {
				t.Errorf("%s: label %d has colour %v, expected %v", name, l, got.Palette[l], c)
			}
		}
	}
}

// PNG packs palettes of up to 16 colours into fewer bits.
func TestFewBits(t *testing.T) {
	for colours := 2; colours <= 16; colours *= 2 {
		p := image.NewPaletted(image.Rect(0, 0, 5, 1), Palette()[:colours])
		copy(p.Pix, []uint8{0, 1, 1, 0, uint8(colours - 1)})
		m, err := Decode(bytes.NewReader(encoded(t, p)), "m.png")
		if err != nil || !slices.Equal(m.Labels, p.Pix) {
			t.Errorf("%d colours: %v, %v", colours, err, m)
		}
	}
	// These files have 5 × 1 pixels of 2 and 1 bits with the grey values 0 1 2 3 1 and 0 1 1 0 1.
	for name, want := range map[string][]uint8{"grey2.png": {0, 1, 2, 3, 1}, "grey1.png": {0, 1, 1, 0, 1}} {
		m, err := Read(filepath.Join("testdata", name))
		if err != nil || !slices.Equal(m.Labels, want) || m.Palette != nil {
			t.Errorf("%s: %v, %+v", name, err, m)
		}
	}
}

// Values of 16 bits are labels, too.
func TestSixteenBits(t *testing.T) {
	from := &image.Gray16{Pix: []uint8{0, 9, 0, 255, 0, 0, 0, 1}, Stride: 4, Rect: image.Rect(0, 0, 2, 2)}
	if m, err := Decode(bytes.NewReader(encoded(t, from)), "a.png"); err != nil ||
		!bytes.Equal(m.Labels, []uint8{9, Void, 0, 1}) {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestBadMasks(t *testing.T) {
	bounds := image.Rect(0, 0, 4, 3)
	opaque := image.NewRGBA(bounds)
	for i := range opaque.Pix {
		opaque.Pix[i] = uint8(255 - 5*(i%4/3)) // not grey
	}
	good := encoded(t, image.NewGray(bounds))
	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"empty": {nil, "expected a mask: a PNG image"}, "text": {[]byte("labels"), "expected a mask: a PNG image"},
		"cut":    {good[:len(good)-20], "broken or cut off"},
		"colour": {encoded(t, opaque), "a colour image (the pixel at x 0, y 0), expected a mask"},
		"16 bits": {encoded(t, &image.Gray16{Pix: []uint8{0, 9, 1, 0}, Stride: 4, Rect: image.Rect(0, 0, 2, 1)}),
			"x 1, y 0 has the value 256, expected at most 255"},
		"alpha": {encoded(t, image.NewNRGBA(bounds)), "a colour image (the pixel at x 0, y 0), expected a mask"},
	} {
		_, err := Decode(bytes.NewReader(test.content), "a.png")
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), "a.png: ") ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, expected an error about %q", name, err, test.want)
		}
	}
	if _, err := Read("nowhere.png"); !structured.IsBadInput(err) {
		t.Error(err)
	}
	m := &Mask{Width: 2, Height: 2, Labels: []uint8{0, Void, 3, 1}}
	if err := m.Check(4, "a.png", "names"); err != nil || m.Max() != 3 {
		t.Error(err, m.Max())
	}
	want := "a.png: the pixel at x 0, y 1 has label 3, expected 0 to 2 (3 names in n.txt) or 255, void"
	if err := m.Check(3, "a.png", "3 names in n.txt"); !structured.IsBadInput(err) || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
	if New(2, 1).Max() != -1 {
		t.Error("a new mask has labels")
	}
}

// Different labels have different colours.
func TestColours(t *testing.T) {
	seen := map[color.RGBA]int{}
	for l := range 256 {
		c := Colour(l)
		if before, twice := seen[c]; twice {
			t.Errorf("labels %d and %d are both %v", before, l, c)
		}
		seen[c] = l
	}
}

// The first labels have Okabe and Ito's colours, after a dark grey, and void is white.
func TestFirstColours(t *testing.T) {
	for l, want := range map[int]string{
		0: "#3C3C3C", 1: "#E69F00", 2: "#56B4E9", 3: "#009E73", 4: "#F0E442", 5: "#0072B2", 6: "#D55E00",
		7: "#CC79A7", Void: "#FFFFFF",
	} {
		if c := Colour(l); c.A != 255 || fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) != want {
			t.Errorf("label %d is %v, expected %s", l, c, want)
		}
	}
	// Other colours are bright in one third of the circle of hues, and dark in that opposite: 8·φ⁻¹ is 4.94 turns, so
	// label 8 is nearly red.
	if c := Colour(8); c.R < 120 || c.R < 2*c.G || c.R < 2*c.B {
		t.Errorf("label 8 is %v, expected red", c)
	}
	for l, c := range Palette() {
		if c != Colour(l) {
			t.Errorf("the palette has %v for label %d, expected %v", c, l, Colour(l))
		}
	}
}

func TestOverlay(t *testing.T) {
	m := &images.Image{Width: 3, Height: 1, Pixels: []uint8{100, 100, 100, 100, 100, 100, 100, 100, 100}}
	colours := color.Palette{color.RGBA{200, 0, 100, 255}, color.RGBA{0, 0, 0, 255}}
	for _, c := range []struct {
		labels []uint8
		want   []uint8
	}{
		{[]uint8{0, 0, 0}, []uint8{125, 75, 100, 125, 75, 100, 125, 75, 100}},
		{[]uint8{0, 1, Void}, []uint8{200, 0, 100, 0, 0, 0, 100, 100, 100}}, // lines are opaque
		{[]uint8{9, 9, 9}, m.Pixels},
	} {
		if got := Overlay(m, &Mask{Width: 3, Height: 1, Labels: c.labels}, colours, 0.25); !slices.Equal(got.Pixels, c.want) {
			t.Errorf("%v: %v, expected %v", c.labels, got.Pixels, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for content, want := range map[string]string{
		"ground\nstone\r\n\n": "", "": "no names", "a\n\nb": "names.txt:2: an empty line, expected the name of label 1",
		"a\nb\na":                        `names.txt:3: "a" is the name of label 0 too`,
		strings.Join(numbers(256), "\n"): "names.txt:256: expected at most 255 names",
	} {
		path := filepath.Join(t.TempDir(), "names.txt")
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		names, err := ReadNames(path)
		if want == "" {
			if err != nil || !slices.Equal(names.Names(), []string{"ground", "stone"}) {
				t.Error(err, names)
			}
		} else if !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	if _, err := ReadNames("nowhere.txt"); !structured.IsBadInput(err) {
		t.Error(err)
	}
}

func numbers(n int) (all []string) {
	for k := range n {
		all = append(all, "label "+strings.Repeat("x", k))
	}
	return all
}
