package sweep

import (
	"log/slog"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
)

// Settings whose inputs of candidate boxes differ, descriptors or pixels, do not share what was read.
func TestLocaliseReadsInputsOfTheNet(t *testing.T) {
	files := newDataSets(&Config{Config: config.Default()}, slog.New(slog.DiscardHandler))
	dim := func(net, features string) int {
		c := config.Default()
		c.Task, c.Net, c.Features, c.Examples = "localise", net, features, settings.Sizes{3, 1, 1}
		resolved, err := models.Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		r, err := files.read(resolved)
		if err != nil {
			t.Fatal(err)
		}
		return r.data.Train.Dim
	}
	descriptors, pixels := dim("linear", "auto"), dim("conv-crop", "auto")
	if descriptors == pixels {
		t.Errorf("linear and conv-crop both read %d numbers per candidate", pixels)
	}
	if got := dim("linear", "pixels"); got != pixels {
		t.Errorf("linear on pixels reads %d numbers per candidate, expected %d", got, pixels)
	}
	if got := dim("conv-map", "descriptor"); got != descriptors {
		t.Errorf("conv-map on descriptors reads %d numbers per candidate, expected %d", got, descriptors)
	}
	if len(files.files) != 2 {
		t.Errorf("data were read %d times, expected 2", len(files.files))
	}
}
