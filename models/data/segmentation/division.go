package segmentation

import (
	"github.com/dsp-go/dsp/models/data/regions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// Division says how an image becomes a graph.
type Division struct {
	Cell        int     // the side of a cell in pixels
	Superpixels int     // how many superpixels an image is divided into, instead of cells; 0 for cells
	Compactness float64 // of superpixels (see regions.SLIC)
	Neighbours  int     // 4, or 8: regions whose corners touch are neighbours too
}

// DefaultDivision has cells of 8 × 8 pixels.
func DefaultDivision() Division { return Division{Cell: 8, Compactness: 10, Neighbours: 4} }

// Validate returns a bad-input error about the first field that is out of range.
func (d Division) Validate() error {
	switch {
	case d.Superpixels < 0 || d.Superpixels > images.MaxPixels:
		return structured.BadInput("%d superpixels, expected 0 (cells) to %d", d.Superpixels, images.MaxPixels)
	case d.Superpixels == 0 && (d.Cell < 1 || d.Cell > images.MaxPixels):
		return structured.BadInput("cells of %d pixels a side, expected at least 1", d.Cell)
	case d.Superpixels > 0 && !(d.Compactness > 0 && d.Compactness <= 1e4):
		return structured.BadInput("superpixels of compactness %v, expected a number above 0 and up to 10000", d.Compactness)
	case d.Neighbours != 4 && d.Neighbours != 8:
		return structured.BadInput("%d neighbours, expected 4 or 8", d.Neighbours)
	}
	return nil
}

// MostRegions returns how many regions an image of that size has at most.
func (d Division) MostRegions(width, height int) int {
	if d.Superpixels > 0 {
		return min(width*height, 4*d.Superpixels) // connected parts may be as small as a quarter of the mean
	}
	return ((width + d.Cell - 1) / d.Cell) * ((height + d.Cell - 1) / d.Cell)
}

// partition divides an image into regions, which are the variables of its graph.
func (d Division) partition(m *images.Image) *regions.Partition {
	if d.Superpixels > 0 {
		return regions.SLIC{Count: d.Superpixels, Compactness: d.Compactness}.Partition(m)
	}
	return regions.Grid(m.Width, m.Height, d.Cell)
}
