package boxes

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Windows are candidates without a detector: windows of several sizes and shapes that slide over an image.
type Windows struct {
	Shapes []Shape `json:"shapes"`
	// windows that are wider or higher than an image are cut to it; otherwise they are left out
	Cut  bool `json:"cut,omitempty"`
	Most int  `json:"most,omitempty"` // the most windows per image; more are thinned out evenly. 0 is no limit
}

// Shape is the size and the shape of a window.
type Shape struct {
	Scale  float64 `json:"scale"`  // the square root of the window's area, as a share of that of the image; from 0 to 1
	Aspect float64 `json:"aspect"` // width divided by height, in pixels
	Stride float64 `json:"stride"` // step between neighbours, as a share of the window's width and height
}

// DefaultWindows give 1,000 windows in an image of 4:3. Nineteen in twenty boxes whose scale is between 0.15 and 0.8,
// and whose aspect is between 1:2 and 2:1, have a window with an IoU above 0.6.
func DefaultWindows() Windows {
	w := Windows{Most: 1000}
	for _, scale := range []float64{0.8, 0.57, 0.4, 0.29, 0.2} {
		for _, aspect := range []float64{0.6, 1, 1.67} {
			w.Shapes = append(w.Shapes, Shape{scale, aspect, 0.25})
		}
	}
	return w
}

// mostShapes bounds the shapes of windows.
const mostShapes = 1000

// Validate returns an error about the first setting that is out of range.
func (w Windows) Validate() error {
	if len(w.Shapes) == 0 || len(w.Shapes) > mostShapes {
		return structured.BadInput("windows: %d shapes, expected 1 to %d", len(w.Shapes), mostShapes)
	}
	for _, s := range w.Shapes {
		switch {
		case !(s.Scale > 0 && s.Scale <= 1):
			return structured.BadInput("windows: scale %v, expected a share of the image above 0, up to 1", s.Scale)
		case !(s.Aspect >= 0.01 && s.Aspect <= 100):
			return structured.BadInput("windows: aspect %v, expected width divided by height, from 0.01 to 100", s.Aspect)
		case !(s.Stride >= 0.01 && s.Stride <= 1):
			return structured.BadInput("windows: stride %v, expected a share of the window from 0.01 to 1", s.Stride)
		}
	}
	if w.Most < 0 {
		return structured.BadInput("windows: at most %d, expected 1 or more, or 0 for no limit", w.Most)
	}
	return nil
}

// Boxes returns the windows of an image of width × height pixels, shape by shape, by rows. Windows are inside the
// image, on whole pixels and all different. An image without any window (a very long one) gets itself as its only one.
func (w Windows) Boxes(width, height int) []Box {
	var all []lattice
	seen := map[[2]int]bool{}
	total := 0
	for _, s := range w.Shapes {
		l := s.lattice(width, height, w.Cut)
		if l.wide > width || l.high > height || seen[[2]int{l.wide, l.high}] {
			continue
		}
		seen[[2]int{l.wide, l.high}] = true
		all = append(all, l)
		total += l.windows()
	}
	if total == 0 {
		return []Box{{Width: float64(width), Height: float64(height)}}
	}
	some := total
	if w.Most > 0 {
		some = min(total, w.Most)
	}
	windows := make([]Box, some)
	before := 0 // windows of the shapes before all[0]
	for k := range windows {
		at := k * total / some
		for at-before >= all[0].windows() {
			before += all[0].windows()
			all = all[1:]
		}
		windows[k] = all[0].window(at - before)
	}
	return windows
}

// lattice is the windows of one shape in an image.
type lattice struct {
	width, height int // of the image
	wide, high    int // of a window
	across, down  int // steps between windows
}

// lattice returns the windows of the shape in an image of width × height pixels.
func (s Shape) lattice(width, height int, cut bool) lattice {
	side := s.Scale * math.Sqrt(float64(width)*float64(height))
	wide, high := max(1, int(math.Round(side*math.Sqrt(s.Aspect)))), max(1, int(math.Round(side/math.Sqrt(s.Aspect))))
	if cut {
		wide, high = min(wide, width), min(high, height)
	}
	return lattice{width, height, wide, high, steps(width, wide, s.Stride), steps(height, high, s.Stride)}
}

// steps returns how many steps windows of a size make along an axis: evenly from edge to edge, at most stride·size
// long.
func steps(length, size int, stride float64) int {
	return int(math.Ceil(float64(length-size) / max(1, stride*float64(size))))
}

// windows returns how many there are.
func (l lattice) windows() int { return (l.across + 1) * (l.down + 1) }

// window returns number k, by rows.
func (l lattice) window(k int) Box {
	return Box{
		X:     float64(place(k%(l.across+1), l.across, l.width, l.wide)),
		Y:     float64(place(k/(l.across+1), l.down, l.height, l.high)),
		Width: float64(l.wide), Height: float64(l.high),
	}
}

// place returns where the window after k of n steps begins.
func place(k, n, length, size int) int {
	return int(math.Round(float64(k*(length-size)) / float64(max(1, n))))
}

// nearest returns the window whose place is the nearest to that of a box.
func (l lattice) nearest(b Box) Box {
	step := func(from, size float64, n, length, window int) int {
		if n == 0 {
			return 0
		}
		at := (from + (size-float64(window))/2) * float64(n) / float64(length-window)
		return max(0, min(n, int(math.Round(at))))
	}
	x, y := step(b.X, b.Width, l.across, l.width, l.wide), step(b.Y, b.Height, l.down, l.height, l.high)
	return l.window(y*(l.across+1) + x)
}
