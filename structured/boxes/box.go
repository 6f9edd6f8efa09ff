// Package boxes holds boxes in images: their geometry, sliding windows as candidates, and the metrics of localisation
// and detection. Its sub-packages read annotations and candidates, draw scenes, and draw boxes on images.
package boxes

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Box is an upright rectangle in an image, in pixels, as in COCO: it covers the points (x, y) with X ≤ x < X+Width and
// Y ≤ y < Y+Height. The top left corner of the image is (0, 0), so pixel (0, 0) is the box {0, 0, 1, 1}. y grows
// downwards.
type Box struct{ X, Y, Width, Height float64 }

// FromVOC returns the box of PASCAL VOC's corners: numbers of pixels that count from 1, where xmax and ymax belong to
// the box.
func FromVOC(xmin, ymin, xmax, ymax float64) Box {
	return Box{X: xmin - 1, Y: ymin - 1, Width: xmax - xmin + 1, Height: ymax - ymin + 1}
}

// VOC returns the corners in the convention of PASCAL VOC, the inverse of FromVOC.
func (b Box) VOC() (xmin, ymin, xmax, ymax float64) {
	return b.X + 1, b.Y + 1, b.X + b.Width, b.Y + b.Height
}

// Area returns the area in square pixels.
func (b Box) Area() float64 { return b.Width * b.Height }

// intersection returns the area that b and c share.
func (b Box) intersection(c Box) float64 {
	width := min(b.X+b.Width, c.X+c.Width) - max(b.X, c.X)
	height := min(b.Y+b.Height, c.Y+c.Height) - max(b.Y, c.Y)
	if width <= 0 || height <= 0 {
		return 0
	}
	return width * height
}

// IoU returns the area of the intersection of b and c divided by that of their union (Everingham et al., 2010): 1 if
// they are equal, 0 if they do not overlap.
func (b Box) IoU(c Box) float64 {
	shared := b.intersection(c)
	if shared == 0 {
		return 0
	}
	return min(1, shared/(b.Area()+c.Area()-shared)) // rounding may take it beyond
}

// String formats the box as its corner and its size.
func (b Box) String() string {
	return fmt.Sprintf("[x %.6g, y %.6g, width %.6g, height %.6g]", b.X, b.Y, b.Width, b.Height)
}

// HasArea reports whether the box is finite and covers something.
func (b Box) HasArea() bool {
	return b.Width > 0 && b.Height > 0 && math.Abs(b.X)+math.Abs(b.Y)+b.Width+b.Height <= math.MaxFloat64
}

// overshoot is the number of pixels by which annotated boxes may leave their image: annotation tools round to whole
// pixels, and conventions differ by one.
const overshoot = 1

// Inside returns the part of the box inside an image of width × height pixels. A box that is not finite, empty,
// inverted, or more than one pixel outside the image is bad input; where names the place of the box, for the message.
func (b Box) Inside(width, height int, where string) (Box, error) {
	if !(math.Abs(b.X)+math.Abs(b.Y)+math.Abs(b.Width)+math.Abs(b.Height) <= math.MaxFloat64) {
		return b, structured.BadInput("%s: box %v, expected finite numbers", where, b)
	}
	switch {
	case b.Width < 0 || b.Height < 0:
		return b, structured.BadInput("%s: box %v is inverted, expected a width and a height above 0", where, b)
	case b.Width == 0 || b.Height == 0:
		return b, structured.BadInput("%s: box %v is empty, expected a width and a height above 0", where, b)
	}
	left, top := max(b.X, 0), max(b.Y, 0)
	right, bottom := min(b.X+b.Width, float64(width)), min(b.Y+b.Height, float64(height))
	cut := max(left-b.X, top-b.Y, b.X+b.Width-right, b.Y+b.Height-bottom)
	if cut > overshoot || right <= left || bottom <= top {
		return b, structured.BadInput("%s: box %v is outside the image, expected it within %d × %d pixels (width × height)",
			where, b, width, height)
	}
	if cut <= 0 {
		return b, nil // exactly as it was: subtracting the corner again could change the last bit
	}
	return Box{X: left, Y: top, Width: right - left, Height: bottom - top}, nil
}

// Best returns the candidate that overlaps most with the gold box, and their IoU: the ŷ of Pillutla et al. 2019,
// section 7.1.2. Among equal ones it is the first. Without candidates it returns -1 and 0.
func Best(candidates []Box, gold Box) (k int, iou float64) {
	k = -1
	for i, c := range candidates {
		if v := c.IoU(gold); k < 0 || v > iou {
			k, iou = i, v
		}
	}
	return k, iou
}
