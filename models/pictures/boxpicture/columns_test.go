package boxpicture

import (
	"encoding/xml"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A sheet has as many panels side by side as it is asked for, 4 if it is not, and never more than it has. Others stand
// below.
func TestColumns(t *testing.T) {
	size := func(panels, columns int) (width, height float64) {
		s := Sheet{Columns: columns}
		for range panels {
			s.Panels = append(s.Panels, Panel{Image: grey(100, 75)})
		}
		path := filepath.Join(t.TempDir(), "t.svg")
		if err := s.Write(path); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var svg struct {
			Width  string `xml:"width,attr"`
			Height string `xml:"height,attr"`
		}
		if err := xml.Unmarshal(text, &svg); err != nil {
			t.Fatal(err)
		}
		width, wrong := strconv.ParseFloat(strings.TrimSuffix(svg.Width, "pt"), 64)
		height, err = strconv.ParseFloat(strings.TrimSuffix(svg.Height, "pt"), 64)
		if err != nil || wrong != nil {
			t.Fatalf("%q × %q", svg.Width, svg.Height)
		}
		return width, height
	}
	one, low := size(1, 1)
	two, _ := size(2, 2)
	_, high := size(2, 1)
	wide, tall := two-one, high-low // what one more panel adds
	if wide <= 0 || tall <= 0 {
		t.Fatalf("two panels side by side are %v wide, one below the other %v high; one is %v × %v", two, high, one, low)
	}
	for _, c := range []struct{ panels, columns, across, down int }{
		{1, 0, 1, 1}, {3, 0, 3, 1}, {4, 0, 4, 1}, {5, 0, 4, 2}, {5, 1, 1, 5}, {5, 2, 2, 3},
		{4, 2, 2, 2}, {3, 7, 3, 1}, {6, 5, 5, 2},
	} {
		width, height := size(c.panels, c.columns)
		across, down := (width-one)/wide+1, (height-low)/tall+1
		if math.Abs(across-float64(c.across)) > 0.1 || math.Abs(down-float64(c.down)) > 0.1 {
			t.Errorf("%d panels in %d columns: about %.2f by %.2f, want %d by %d",
				c.panels, c.columns, across, down, c.across, c.down)
		}
	}
}
