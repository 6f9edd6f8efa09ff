package curves

import (
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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

// Names in the legend stand beside each other, in the order of what they name, with room for its mark.
func TestLegendOfUnitSquare(t *testing.T) {
	names := []string{"entities", "a longer name", "x", "perfect", "share"}
	s := UnitSquare{Title: "finding", X: "recall", Y: "precision", Diagonal: names[3], BarsName: names[4],
		Bars: []SquareBar{{0, 0.5, 0.2}}}
	for k, name := range names[:3] {
		s.Lines = append(s.Lines, SquareLine{Name: name, Points: []SquarePoint{{X: 0, Y: 1}, {X: 1, Y: 0.2}}, Loose: k == 1})
	}
	svg := written(t, s.Write)
	end := 0.0
	for _, name := range names {
		found := regexp.MustCompile(`<text x="([0-9.]+)"[^>]*>` + name +
			`</text>`).FindStringSubmatch(strings.ReplaceAll(svg, "\n", " "))
		if found == nil {
			t.Fatalf("no %q in\n%s", name, svg)
		}
		x, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		const mark, most = 18, 60 // points between two names, where a mark of 17 stands
		if end > 0 && (x-end < mark || x-end > most) {
			t.Errorf("%s begins at %g, and the name before it ends at %g", name, x, end)
		}
		end = x + style(10, ink).Width(name).Points()
	}
	if end > squareWidth.Points() {
		t.Errorf("the legend ends at %g of %g", end, squareWidth.Points())
	}
}
