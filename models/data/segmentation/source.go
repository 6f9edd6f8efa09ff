// Package segmentation makes graphs of images and their masks: a variable for each region of an image, and an edge
// between neighbours. It reads images and masks from folders.
package segmentation

import (
	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/structured/images"
)

// Example is an image with its mask.
type Example struct {
	ID    string // unique in its source: the file's name without its ending
	Image *images.Image
	Mask  *masks.Mask // of the image's size; nil if it is not known
	Place string      // of the mask, or of the image without one, for messages
}

// Source has examples. It serves many goroutines at once.
type Source interface {
	Name() string // for messages
	Len() int
	Masks() bool                 // every example has a mask, or none has
	Load(i int) (Example, error) // reads or draws example i
}
