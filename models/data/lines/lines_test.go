package lines

import (
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// page returns a grey image with one dark column.
func page(width, height, dark int) *image.Gray {
	m := image.NewGray(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetGray(x, y, color.Gray{255})
		}
		m.SetGray(dark, y, color.Gray{51})
	}
	return m
}

func folder(t *testing.T, listing string, pages map[string]image.Image) string {
	t.Helper()
	dir := t.TempDir()
	for name, m := range pages {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, m); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, Listing), []byte(listing), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Frames are columns of pixels from left to right, ink 1; the last frame ends with paper. Symbols that are known keep
// their numbers.
func TestReadFolder(t *testing.T) {
	dir := folder(t, "b.png\tbéa\n\na.png\t\r\n", map[string]image.Image{"a.png": page(3, 2, 1), "b.png": page(5, 2, 4)})
	d, err := Reader{Height: 2, Columns: 2}.ReadFolder(dir, structured.NewAlphabet("b", "x"), true)
	if err != nil {
		t.Fatal(err)
	}
	const ink = 1 - float32(51)/255
	want := []float32{0, 0, 0, 0 /**/, 0, 0, 0, 0 /**/, ink, ink, 0, 0 /**/, 0, 0, ink, ink /**/, 0, 0, 0, 0}
	for k, x := range d.Features {
		if diff := x - want[k]; diff > 1e-5 || diff < -1e-5 {
			t.Errorf("feature %d is %g, want %g", k, x, want[k])
		}
	}
	if !slices.Equal(d.Offsets, []int{0, 3, 5}) || !slices.Equal(d.Alphabet.Names(), []string{"b", "x", "a", "é"}) ||
		d.Dim != 4 {
		t.Errorf("%v, %v", d.Offsets, d.Alphabet.Names())
	}
	if !reflect.DeepEqual(d.Readings, [][]int32{{0, 3, 2}, {}}) || !slices.Equal(d.IDs, []string{"b.png", "a.png"}) ||
		!slices.Equal(d.Lines, []int{1, 3}) {
		t.Errorf("%v, %v, %v", d.Readings, d.IDs, d.Lines)
	}
	if !d.Partial(0) || d.GoldOf(1).Reading == nil {
		t.Error("what is known of the lines is lost")
	}
	m, ok := Image(d.Subset([]int{1}), 0)
	if !ok || m.Bounds() != image.Rect(0, 0, 4, 2) || m.GrayAt(1, 1).Y != 51 || m.GrayAt(2, 0).Y != 255 {
		t.Errorf("%v", m)
	}

	// Scaled to twice the height, a line is twice as wide.
	if d, err = (Reader{Height: 4, Columns: 2, Words: true}).ReadFolder(dir, nil, true); err != nil ||
		!slices.Equal(d.Offsets, []int{0, 5, 8}) || d.Alphabet.Len() != 1 {
		t.Errorf("%v, %v", d, err)
	}
	file, err := os.ReadFile(filepath.Join(dir, "b.png"))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := (Reader{Height: 4, Columns: 2}).FramesOf(file); n != 5 || err != nil {
		t.Errorf("%d frames, %v", n, err)
	}

	// A narrow line is scaled, too, although it stays as wide: all of its height is in the frame.
	narrow := image.NewGray(image.Rect(0, 0, 1, 8))
	for y := range 4 {
		narrow.SetGray(0, y, color.Gray{255})
	}
	if d, err = (Reader{Height: 4, Columns: 1}).ReadFolder(folder(t, "n.png\ta\n",
		map[string]image.Image{"n.png": narrow}), nil, true); err != nil {
		t.Fatal(err)
	}
	if x := d.Features; len(x) != 4 || x[0] > 0.1 || x[3] < 0.9 || x[1] > 0.5 || x[2] < 0.5 {
		t.Errorf("a column that is white above and black below is %v", x)
	}

	// A flat image is large once it has the height of a frame.
	if err := (Reader{Height: 1000, Columns: 2}).check("flat.png", 100_000, 1); !structured.IsBadInput(err) {
		t.Errorf("got %v", err)
	}

	// Without the listing, images are lines in the order of their names.
	if err := os.Remove(filepath.Join(dir, Listing)); err != nil {
		t.Fatal(err)
	}
	if _, err := (Reader{Height: 2, Columns: 2}).ReadFolder(dir, nil, true); !structured.IsBadInput(err) {
		t.Errorf("got %v", err)
	}
	if d, err = (Reader{Height: 2, Columns: 2}).ReadFolder(dir, nil, false); err != nil || d.Labels != nil ||
		d.Readings != nil || !slices.Equal(d.Offsets, []int{0, 2, 5}) {
		t.Errorf("%v, %v", d, err)
	}
}

// Symbols are characters or words, and joined again.
func TestSymbols(t *testing.T) {
	for _, c := range []struct {
		words   bool
		text    string
		symbols []string
	}{{false, "a bé", []string{"a", " ", "b", "é"}}, {true, " ah  eh ", []string{"ah", "eh"}}, {false, "", []string{}}} {
		if got := (Reader{Words: c.words}).Symbols(c.text); !slices.Equal(got, c.symbols) {
			t.Errorf("%q has the symbols %q", c.text, got)
		}
	}
	names := structured.NewAlphabet("a", " ", "ah")
	if a, b := Joined([]int32{0, 1, 0}, names), Joined([]int32{2, 0}, names); a != "a a" || b != "ah a" {
		t.Errorf("%q, %q", a, b)
	}
	if a := Joined([]int32{2, 0, 2}, structured.NewAlphabet(" ", "ab", "a")); a != "a a" {
		t.Errorf("symbols with a blank, which comes first, are joined to %q", a)
	}
	if a := Joined([]int32{0, 0}, structured.NewAlphabet("a", "ah")); a != "a a" {
		t.Errorf("words of one letter are joined to %q", a)
	}
	d := Reader{Height: 2, Columns: 1}.Unread("x", names, func(add func(string, *images.Image)) {
		add("", images.Of(page(3, 2, 0)))
	})
	if d.Readings != nil || d.Alphabet != names || d.Length(0) != 3 {
		t.Errorf("%+v", d)
	}
}

// Weights of lines come with what they read, and a file to predict on needs none.
func TestArrayWeights(t *testing.T) {
	path := filepath.Join(t.TempDir(), "frames.npz")
	err := host.WriteFile(path, func(w io.Writer) error {
		return arrays.WriteNPZ(w, func(n arrays.NPZWriter) error {
			return errors.Join(arrays.Add(n, "features", make([]float32, 10), 5, 2), arrays.Add(n, "lengths", []int64{2, 3}, 2),
				arrays.Add(n, "weights", []float32{3, 0.5}, 2), n.AddText("texts", []string{"a", "b"}))
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := (Reader{}).ReadArrays(path, nil, true, 0); err != nil || !slices.Equal(d.Weights, []float64{3, 0.5}) ||
		d.IDs != nil {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := (Reader{}).ReadArrays(path, nil, false, 0); err != nil || d.Weights != nil {
		t.Errorf("%+v, %v", d, err)
	}
}
