package boxes

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Windows are candidates without a detector: windows of several sizes and shapes that slide over an image.
type Windows struct {
	Scales  []float64 // the square root of a window's area, as a share of that of the image; from 0 to 1
	Aspects []float64 // width divided by height, in pixels
	Stride  float64   // step between neighbours, as a share of the window's width and height
	Most    int       // the most windows per image; more are thinned out evenly. 0 is no limit
}

// DefaultWindows give 1,000 windows in an image of 4:3. Nineteen in twenty boxes whose scale is between 0.15 and 0.8, and whose
// aspect is between 1:2 and 2:1, have a window with an IoU above 0.6.
func DefaultWindows() Windows {
	return Windows{
		Scales: []float64{0.8, 0.57, 0.4, 0.29, 0.2}, Aspects: []float64{0.6, 1, 1.67},
		Stride: 0.25, Most: 1000,
	}
}

// Validate returns an error about the first setting that is out of range.
func (w Windows) Validate() error {
	if len(w.Scales) == 0 || len(w.Aspects) == 0 {
		return structured.BadInput("windows: %d scales and %d aspects, expected at least one of each", len(w.Scales), len(w.Aspects))
	}
	for _, s := range w.Scales {
		if !(s > 0 && s <= 1) {
			return structured.BadInput("windows: scale %v, expected a share of the image above 0, up to 1", s)
		}
	}
	for _, a := range w.Aspects {
		if !(a >= 0.01 && a <= 100) {
			return structured.BadInput("windows: aspect %v, expected width divided by height, from 0.01 to 100", a)
		}
	}
	if !(w.Stride >= 0.01 && w.Stride <= 1) {
		return structured.BadInput("windows: stride %v, expected a share of the window from 0.01 to 1", w.Stride)
	}
	if w.Most < 0 {
		return structured.BadInput("windows: at most %d, expected 1 or more, or 0 for no limit", w.Most)
	}
	return nil
}

// Boxes returns the windows of an image of width × height pixels, in the order of the scales, then of the aspects, then by rows. Windows
// are inside the image, on whole pixels and all different. An image without any window (a very long one) gets itself as its only one.
func (w Windows) Boxes(width, height int) []Box {
	var all []Box
	seen := map[[2]int]bool{}
	side := math.Sqrt(float64(width) * float64(height))
	for _, scale := range w.Scales {
		for _, aspect := range w.Aspects {
			wide := max(1, int(math.Round(scale*side*math.Sqrt(aspect))))
			high := max(1, int(math.Round(scale*side/math.Sqrt(aspect))))
			if wide > width || high > height || seen[[2]int{wide, high}] {
				continue
			}
			seen[[2]int{wide, high}] = true
			columns, rows := places(width, wide, w.Stride), places(height, high, w.Stride)
			for _, y := range rows {
				for _, x := range columns {
					all = append(all, Box{X: float64(x), Y: float64(y), Width: float64(wide), Height: float64(high)})
				}
			}
		}
	}
	if len(all) == 0 {
		return []Box{{Width: float64(width), Height: float64(height)}}
	}
	if w.Most > 0 && len(all) > w.Most {
		for k := range w.Most {
			all[k] = all[k*len(all)/w.Most]
		}
		all = all[:w.Most]
	}
	return all
}

// places returns where windows of a size begin along an axis: evenly from edge to edge, at most stride·size apart.
func places(length, size int, stride float64) []int {
	free := length - size
	steps := int(math.Ceil(float64(free) / max(1, stride*float64(size))))
	at := []int{0}
	for k := 1; k <= steps; k++ {
		at = append(at, int(math.Round(float64(k*free)/float64(steps))))
	}
	return at
}
