package boxpicture

import (
	"testing"

	"github.com/dsp-go/dsp/models/pictures/picturetest"
)

// Images, boxes, scores, captions, the legend and the title have their places.
func TestPlaces(t *testing.T) { picturetest.Kept(t, "sheet.svg", sheet().Write) }
