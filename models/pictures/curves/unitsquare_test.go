package curves

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Lines, bars and diagonals are drawn; another kind of file is refused, and nothing is written.
func TestUnitSquare(t *testing.T) {
	s := UnitSquare{Title: "finding", Caption: "what", X: "recall", Y: "precision", Diagonal: "perfect", BarsName: "share",
		Lines: []SquareLine{
			{Name: "entities", Points: []SquarePoint{{X: 0, Y: 1}, {X: 0.5, Y: 0.9, Label: "0.9"}, {X: 1, Y: 0.2, Dot: true}}},
			{Name: "best", Points: []SquarePoint{{X: 0.2, Y: 0.3, Dot: true}}, Loose: true}, {Name: "nothing"},
		}, Bars: []SquareBar{{0, 0.5, 0.2}}}
	dir := t.TempDir()
	path := filepath.Join(dir, "s.png")
	if err := s.Write(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	for series := range 2 {
		if n := inked(img, series); n < 50 {
			t.Errorf("series %d has %d pixels", series, n)
		}
	}
	if err := s.Write(filepath.Join(dir, "s.SVG")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "s.SVG"))
	if err != nil || !strings.Contains(string(text), "entities") {
		t.Errorf("no legend in the svg: %v", err)
	}
	if err := s.Write(filepath.Join(dir, "s.pdf")); err != nil {
		t.Error(err)
	}
	if err := s.Write(filepath.Join(dir, "s.jpg")); !structured.IsBadInput(err) {
		t.Errorf("jpg: %v", err)
	}
}
