package models

import (
	"github.com/dsp-go/dsp/structured"
)

// A task is what a model predicts: all that differs with the kind of outputs and is not the structure's own.
type task interface {
	// layout returns the form that predictions are written in.
	layout(m *Model, o PredictOptions, asJSON bool) layout
	// comparison begins to compare outputs with those of d.
	comparison(m *Model, d *structured.Dataset, strict bool) comparison
}

// comparison compares outputs with gold ones.
type comparison interface {
	// add compares an output of example i of d.
	add(d *structured.Dataset, i int, y []int32)
	report() Report
}

// task returns what c predicts.
func (c *Config) task() task {
	if c.Task == "parse" {
		return parsing{}
	}
	return tagging{}
}
