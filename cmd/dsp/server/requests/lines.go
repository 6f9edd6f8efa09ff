package requests

import (
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/lines"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// lineImages reads images of lines of text.
type lineImages struct {
	reader lines.Reader
	names  *structured.Alphabet
	limits Limits
}

func newLineImages(m *models.Model, limits Limits) *lineImages {
	return &lineImages{tasks.LineReader(&m.Config), m.Labels, limits}
}

func (r *lineImages) Inputs() []Input { return []Input{{Name: "example", Kind: Objects}} }

func (r *lineImages) Sample() string { return imageSample }

func (r *lineImages) Members() []string { return []string{"image"} }

func (r *lineImages) Known() string { return "" }

// Example implements Reader. A small image of a long line becomes a long one as it is scaled to the height of a frame.
func (r *lineImages) Example(o *Object) (Example, error) {
	e, _, err := encoded(o, r.limits, r)
	if err != nil {
		return e, err
	}
	frames, err := r.reader.FramesOf(e.content.([]byte))
	if err == nil {
		err = most(frames, r.limits.Positions, "frames")
	}
	e.Size, e.Extent.Positions = frames, frames
	e.Bytes += perFrame * frames * r.reader.Columns * r.reader.Height
	return e, err
}

func (r *lineImages) Dataset(all []Example) (*structured.Dataset, error) {
	list, err := decoded(all)
	if err != nil {
		return nil, err
	}
	d := r.reader.Unread(dataName, r.names, func(add func(id string, m *images.Image)) {
		for _, m := range list {
			add("", m)
		}
	})
	return named(d, all), nil
}
