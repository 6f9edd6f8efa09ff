package models

import (
	"fmt"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// Unlike says in what images differ from those that a model was trained on, as an entry of a log: a message with names
// and values.
type Unlike struct {
	Difference images.Difference
	Message    string
	Values     []any
}

// Unlike compares images with those that the model was trained on, and returns in what they are of another kind. A
// model that does not know what its training images looked like says nothing.
func (m *Model) Unlike(all []structured.ImageLook) []Unlike {
	here, training := images.SummariseLooks(all), m.Looks
	lines := m.Config.Task == "transcribe"
	var found []Unlike
	for _, kind := range training.Unlike(here) {
		u := Unlike{Difference: kind}
		what, cure := "", ""
		switch kind {
		case images.OtherColours:
			what, cure = "other colours, or brighter or darker,", "give them the colours of the training images (dark text on light paper, say, where images are inverted)"
			u.Values = []any{"mean_colour", rgb(here.Colour()), "training", rgb(training.Colour())}
		case images.OtherContrast:
			what, cure = "another contrast", "stretch or compress their contrast"
			u.Values = []any{"contrast", fmt.Sprintf("%.3f", here.Contrast()), "training", fmt.Sprintf("%.3f", training.Contrast())}
		case images.OtherSize:
			what, cure = "another size", "scale them"
			name := "size"
			if lines {
				what, name = "another height", "height"
			}
			u.Values = []any{name, fmt.Sprintf("%.0f", here.Size()), "training", fmt.Sprintf("%.0f", training.Size())}
		}
		u.Message = fmt.Sprintf("images are of %s than those that the model was trained on, and predictions may be wrong: %s, or train on such images (dsp train --init continues this model)", what, cure)
		found = append(found, u)
	}
	return found
}

func rgb(c [images.Channels]float64) string { return fmt.Sprintf("%.2f %.2f %.2f", c[0], c[1], c[2]) }

// OnUnlike has report called with each difference of the images of data that ReadData read from those that the model
// was trained on.
func (m *Model) OnUnlike(report func(data string, u Unlike)) { m.onUnlike = report }

// sayUnlike reports the differences of d.
func (m *Model) sayUnlike(d *structured.Dataset) {
	if m.onUnlike == nil {
		return
	}
	for _, u := range m.Unlike(d.Looks) {
		m.onUnlike(d.Name, u)
	}
}
