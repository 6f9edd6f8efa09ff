package localisation

import "testing"

// Positions bounds the positions of an image: candidates are at most as many, and the cells of a grid all there.
func TestPositions(t *testing.T) {
	some, grid := Options{Crop: 8, Candidates: 60}, Options{Windows: true, Grid: 6}
	if some.Positions() != 60 || grid.Positions() != 36 {
		t.Errorf("%d candidates and %d cells, expected 60 and 36", some.Positions(), grid.Positions())
	}
	if d := scenes(t, some); d.Length(0) < 1 || d.Length(0) > some.Positions() {
		t.Errorf("%d candidates, expected 1 to %d", d.Length(0), some.Positions())
	}
	if d := scenes(t, grid); d.Length(0) != grid.Positions() {
		t.Errorf("%d cells, expected %d", d.Length(0), grid.Positions())
	}
}
