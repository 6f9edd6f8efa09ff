package images

import (
	"math"
	"slices"
	"testing"
)

// The regions of a grid have the features of its cells, but for the scale of the orientations. A region of two parts
// has their mean.
func TestRegionsOfGrid(t *testing.T) {
	m := patterned(24, 18)
	const rows, columns = 3, 4
	of := make([]int32, m.Width*m.Height)
	for i := range of {
		of[i] = int32(i/m.Width*rows/m.Height*columns + i%m.Width*columns/m.Width)
	}
	cells, regions := make([]float32, rows*columns*CellFeatures), make([]float32, rows*columns*CellFeatures)
	if err := m.Cells(cells, rows, columns); err != nil {
		t.Fatal(err)
	}
	m.Regions(regions, of, rows*columns)
	near := func(x, y float32) bool { return math.Abs(float64(x-y)) < 1e-5 }
	for cell := range rows * columns {
		a, b := cells[cell*CellFeatures:][:CellFeatures], regions[cell*CellFeatures:][:CellFeatures]
		scale, sum := a[gradientAt+7]/b[gradientAt+7], float32(0)
		for k := range a {
			switch {
			case k >= gradientAt && k < StrengthAt:
				sum += b[k]
				if !near(a[k], scale*b[k]) {
					t.Errorf("cell %d, orientation %d: %v and %v, expected a ratio of %v", cell, k-gradientAt, a[k], b[k], scale)
				}
			case !near(a[k], b[k]):
				t.Errorf("cell %d, feature %d: %v and %v", cell, k, a[k], b[k])
			}
		}
		if want := b[StrengthAt] / (b[StrengthAt] + faint); !near(sum, want) {
			t.Errorf("cell %d: orientations sum to %v, expected %v", cell, sum, want)
		}
	}
	two := slices.Clone(of) // regions 0 and 11 become one
	for i, r := range two {
		if r == 11 {
			two[i] = 0
		}
	}
	joined := make([]float32, 11*CellFeatures)
	m.Regions(joined, two, 11)
	if !near(joined[0], (regions[0]+regions[11*CellFeatures])/2) || !near(joined[positionAt], 0) ||
		!near(joined[positionAt+1], 0) {
		t.Errorf("two cells joined: %v", joined[:CellFeatures])
	}
}

func BenchmarkRegions(b *testing.B) {
	m := patterned(500, 375)
	of := make([]int32, m.Width*m.Height)
	for i := range of {
		of[i] = int32(i % m.Width / 8)
	}
	f := make([]float32, 63*CellFeatures)
	for b.Loop() {
		m.Regions(f, of, 63)
	}
}
