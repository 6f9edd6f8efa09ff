// Package localisation makes data sets of images in which one object is to be found: among candidate boxes, or among
// all boxes of a grid.
package localisation

import (
	"github.com/dsp-go/dsp/models/data/annotations"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/images"
)

// Set is what a data set keeps of its images beside inputs and outputs.
type Set struct {
	Class   string
	ClassID int64   // COCO's number of the class
	Images  []Image // [n]

	Boxes   []boxes.Box // [ΣC] the candidates, a position each; nil for windows
	Offsets []int       // [n+1] of the candidates
	Grid    int         // cells per side of an image, for windows

	// that are candidates where no others are given, as the training data have them; nil: boxes.DefaultWindows
	Sliding *boxes.Windows
	Slides  bool // Boxes are these windows

	Map [3]int // height, width and channels of the map that the inputs of a candidate are; zeros if they are none

	Counts *annotations.Counts // of images used and not used; nil where nothing was chosen
}

// Image is one image of a Set.
type Image struct {
	ID            int64  // COCO's number of the image
	Path          string // of its file, or empty
	Width, Height int    // in pixels
	Gold          *boxes.Truth

	annotated images.Orientation // of what its annotations are (annotations.Image)

	pixels *images.Image // a drawn scene, or nil
}

// Of returns the set of data that this package made.
func Of(d *structured.Dataset) *Set { return d.TaskData.(*Set) }

// Load returns the image's pixels.
func (m *Image) Load() (*images.Image, error) {
	switch {
	case m.pixels != nil:
		return m.pixels, nil
	case m.Path == "":
		return nil, structured.BadInput("image %d: the data has features, but no image", m.ID)
	}
	return images.ReadSized(m.Path, m.Width, m.Height)
}

func (s *Set) Subset(_ *structured.Dataset, examples []int) structured.TaskData {
	some := &Set{Class: s.Class, ClassID: s.ClassID, Grid: s.Grid, Sliding: s.Sliding, Slides: s.Slides, Map: s.Map}
	if s.Boxes != nil {
		some.Offsets = []int{0}
	}
	for _, i := range examples {
		some.Images = append(some.Images, s.Images[i])
		if s.Boxes != nil {
			some.Boxes = append(some.Boxes, s.Candidates(i)...)
			some.Offsets = append(some.Offsets, len(some.Boxes))
		}
	}
	return some
}

// Join implements joiner of the package union.
func (s *Set) Join(others []structured.TaskData) (structured.TaskData, error) {
	all := &Set{Class: s.Class, ClassID: s.ClassID, Grid: s.Grid, Sliding: s.Sliding, Slides: s.Slides, Map: s.Map}
	if s.Boxes != nil {
		all.Offsets = []int{0}
	}
	for _, of := range append([]structured.TaskData{s}, others...) {
		set := of.(*Set)
		switch {
		case set.Class != s.Class:
			return nil, structured.BadInput("objects of class %s, expected %s as in the first file; choose one class of both",
				set.Class, s.Class)
		case set.Map != s.Map || set.Grid != s.Grid || (set.Boxes == nil) != (s.Boxes == nil):
			return nil, structured.BadInput("the inputs of boxes have another shape than in the first file")
		}
		from := len(all.Boxes)
		all.Images, all.Boxes = append(all.Images, set.Images...), append(all.Boxes, set.Boxes...)
		for i := range set.Images {
			if s.Boxes != nil {
				all.Offsets = append(all.Offsets, from+set.Offsets[i+1])
			}
		}
		if set.Counts != nil {
			if all.Counts == nil {
				all.Counts = &annotations.Counts{}
			}
			all.Counts.Add(*set.Counts)
		}
	}
	return all, nil
}

// Candidates returns the candidate boxes of image i, nil for windows.
func (s *Set) Candidates(i int) []boxes.Box {
	if s.Boxes == nil {
		return nil
	}
	return s.Boxes[s.Offsets[i]:s.Offsets[i+1]]
}

// Box returns the box in pixels of an output y for image i: the number of a candidate, or the cells of a window.
func (s *Set) Box(i int, y []int32) boxes.Box {
	if s.Boxes != nil {
		return s.Candidates(i)[y[0]]
	}
	return s.window(i, y)
}

// Annotated returns Box in the pixels that the annotations of the image are of.
func (s *Set) Annotated(i int, y []int32) boxes.Box {
	m := &s.Images[i]
	return m.annotated.Inverse().TurnBox(s.Box(i, y), m.Width, m.Height)
}

func (s *Set) window(i int, y []int32) boxes.Box {
	m, n := &s.Images[i], float64(s.Grid)
	edge := func(cell int32, size int) float64 { return float64(cell) * float64(size) / n }
	left, top := edge(y[1], m.Width), edge(y[0], m.Height)
	return boxes.Box{X: left, Y: top, Width: edge(y[3]+1, m.Width) - left, Height: edge(y[2]+1, m.Height) - top}
}

// best returns the output for image i that overlaps most with its gold box, and their IoU.
func (s *Set) best(i int) ([]int32, float64) {
	gold := s.Images[i].Gold.Box
	if s.Boxes != nil {
		k, iou := boxes.Best(s.Candidates(i), gold)
		return []int32{int32(k)}, iou
	}
	return s.snap(i, gold)
}

// snap returns the window that overlaps most with a box, and their IoU. Each of its edges is one of the two grid lines
// on either side of the box's edge: between them the IoU, as a function of the edge, falls on both sides of the box's
// own edge.
func (s *Set) snap(i int, b boxes.Box) (best []int32, iou float64) {
	m := &s.Images[i]
	tops, bottoms := s.lines(b.Y, m.Height), s.lines(b.Y+b.Height, m.Height)
	lefts, rights := s.lines(b.X, m.Width), s.lines(b.X+b.Width, m.Width)
	iou = -1
	for _, top := range tops {
		for _, bottom := range bottoms {
			for _, left := range lefts {
				for _, right := range rights {
					if top >= bottom || left >= right {
						continue
					}
					y := []int32{top, left, bottom - 1, right - 1}
					if v := s.window(i, y).IoU(b); v > iou {
						best, iou = y, v
					}
				}
			}
		}
	}
	return best, iou
}

// lines returns the grid lines next to a coordinate, 0 to Grid, below and above it.
func (s *Set) lines(at float64, size int) [2]int32 {
	k := int32(at * float64(s.Grid) / float64(size))
	k = max(0, min(k, int32(s.Grid)-1))
	return [2]int32{k, k + 1}
}

// Allowed returns the mean IoU, and the share of images with an IoU above 0.5, of the best boxes that outputs can
// express, over the images whose object is known.
func (s *Set) Allowed() (meanIoU, corLoc float64) {
	sum, right, known := 0.0, 0, 0
	for i := range s.Images {
		if s.Images[i].Gold == nil {
			continue
		}
		_, iou := s.best(i)
		sum += iou
		known++
		if iou > 0.5 {
			right++
		}
	}
	n := float64(max(1, known))
	return sum / n, float64(right) / n
}
