package ocr

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/lines"
)

// The same seed draws the same lines, whose ink grows with their text, and files hold what is drawn.
func TestTextLines(t *testing.T) {
	o := TextLines{Train: 30, Dev: 1, Test: 2, Difficulty: 1, Seed: 5}
	drawn, again := o.Set(0), o.Set(0)
	o.Seed = 6
	other := o.Set(0)
	o.Seed = 5
	same := 0
	for i, l := range drawn {
		if !bytes.Equal(l.Image.Pix, again[i].Image.Pix) || l.Text != again[i].Text {
			t.Fatalf("line %d is not the same twice", i)
		}
		if l.Text == other[i].Text {
			same++
		}
		ink, letters := 0., float64(len(strings.ReplaceAll(l.Text, " ", "")))
		for _, p := range l.Image.Pix {
			ink += 1 - float64(p)/255
		}
		if b := l.Image.Bounds(); b.Dy() != letterRows || float64(b.Dx()) < 2*letters ||
			float64(b.Dx()) > 14*float64(len(l.Text))+10 || ink < 4*letters {
			t.Errorf("%q: %v, ink %g", l.Text, b, ink)
		}
	}
	if same > 25 {
		t.Errorf("another seed gives %d of 30 texts, too", same)
	}
	dir := t.TempDir()
	if err := WriteTextLines(dir, o); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(dir, "test", lines.Listing))
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, l := range o.Set(2) {
		want += l.Name + "\t" + l.Text + "\n"
		f, err := os.Open(filepath.Join(dir, "test", l.Name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if m, err := png.Decode(f); err != nil || m.Bounds() != l.Image.Bounds() || m.At(3, 7) != l.Image.At(3, 7) {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
	if string(list) != want {
		t.Errorf("got\n%swant\n%s", list, want)
	}
	if err := (TextLines{Train: -1}).Validate(); err == nil {
		t.Error("a negative number of lines")
	}
}
