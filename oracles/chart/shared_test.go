package chart

import "testing"

// Cells share exponentials if several sum several terms over the same cells, with weights of one part: the part is that
// of all ranges of their terms, which begins at or before their weights.
func TestSharedPart(t *testing.T) {
	weight := func(at int) Terms {
		return Terms{Count: 2, Weight: Run{at, 2, 1}, First: Run{At: 1, PerTerm: 1}, Then: Run{At: 1, PerTerm: 1}}
	}
	perCell := func(of func(t *Terms) *Run) Terms {
		x := weight(3)
		of(&x).PerCell = 1
		return x
	}
	for name, x := range map[string]struct {
		ranges       []Terms
		cells, terms int
		want         int
	}{
		"first part":               {[]Terms{weight(3)}, 2, 2, 0},
		"its first":                {[]Terms{weight(1)}, 2, 2, 0},
		"second part":              {[]Terms{weight(9)}, 2, 2, 1},
		"third part":               {[]Terms{weight(20)}, 3, 2, 2},
		"two ranges":               {[]Terms{weight(9), weight(12)}, 2, 4, 1},
		"two parts":                {[]Terms{weight(9), weight(20)}, 2, 4, -1},
		"two parts, the other way": {[]Terms{weight(9), weight(3)}, 2, 4, -1},
		"no weights":               {[]Terms{weight(0)}, 2, 2, -1},
		"one cell":                 {[]Terms{weight(3)}, 1, 2, -1},
		"one term":                 {[]Terms{weight(3)}, 2, 1, -1},
		"other cells":              {[]Terms{perCell(func(t *Terms) *Run { return &t.First })}, 2, 2, -1},
		"other cells, 2":           {[]Terms{perCell(func(t *Terms) *Run { return &t.Then })}, 2, 2, -1},
	} {
		c := &Chart{parts: []int{1, 9, 17}, ranges: append([]Terms{weight(17)}, x.ranges...)}
		g := &group{cells: x.cells, terms: x.terms, from: 1, to: 1 + len(x.ranges)}
		if got := c.sharedPart(g); got != x.want {
			t.Errorf("%s: part %d, want %d", name, got, x.want)
		}
	}
	c := &Chart{parts: []int{1, 9}, weights: make([]float64, 12)}
	for part, want := range [][2]int{{1, 9}, {9, 12}} {
		if lo, hi := c.weightsOf(part); lo != want[0] || hi != want[1] {
			t.Errorf("part %d has weights %d to %d", part, lo, hi-1)
		}
	}
}
