package curves

import (
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Every series is drawn in its colour, even in edge cases.
func TestComparison(t *testing.T) {
	lines := []Series{
		{Name: "a", Points: []Point{{0.1, 40, 2}, {1, 45, 1}, {10, 42, math.NaN()}}, Joined: true},
		{Name: "b", Points: []Point{{0.1, 41, 0}, {10, 43, 0}}, Joined: true},
	}
	for name, c := range map[string]*Comparison{
		"lines": {Title: "best", Caption: "six", Value: "F1, %", Legend: "method",
			Panels: []Panel{{Label: "reg", Log: true, Series: lines}}},
		"choices": {Title: "best", Legend: "method",
			Panels: []Panel{{Names: []string{"x", "y"},
				Series: []Series{{Name: "a", Points: []Point{{0, 1, 0}}}, {Name: "b", Points: []Point{{1, 2, 0}}}}}}},
		"panels": {Title: "best", Panels: []Panel{{Series: lines[:1]}, {Series: lines}, {Series: lines}}},
		"point": {Title: "best",
			Panels: []Panel{{Series: []Series{{Points: []Point{{3, 3, 0}}}, {Points: []Point{{3, 5, 0}}}}}}},
		"nothing": {Panels: []Panel{{Label: "reg"}}},
	} {
		path := filepath.Join(t.TempDir(), "c.png")
		if err := c.Write(path); err != nil {
			t.Fatal(name, err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(name, err)
		}
		for series := range 2 {
			if n := inked(img, series); n < 50 && name != "nothing" {
				t.Errorf("%s: series %d has %d pixels", name, series, n)
			}
		}
	}
}

// A legend that is too long for one row continues in the next.
func TestLegendRows(t *testing.T) {
	c := &Comparison{Legend: "features", Panels: []Panel{{}}}
	for range 12 {
		c.Panels[0].Series = append(c.Panels[0].Series, Series{Name: "a rather long name"})
	}
	rows, n := c.legend(), 0
	for _, row := range rows {
		for _, e := range row {
			if e.series >= 0 {
				n++
			}
			if e.x+style(11, ink).Width(e.text) > width {
				t.Errorf("%q sticks out at %v", e.text, e.x)
			}
		}
	}
	if n != 12 || len(rows) < 2 {
		t.Errorf("%d names in %d rows", n, len(rows))
	}
}
