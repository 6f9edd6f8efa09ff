package models

import (
	"github.com/dsp-go/dsp/structured"
)

// A task is what a model predicts: everything that depends on the kind of outputs, except the structure itself.
type task interface {
	// layout returns how predictions are written.
	layout(m *Model, o PredictOptions, asJSON bool) layout
	// comparison starts a comparison with the outputs of d.
	comparison(m *Model, d *structured.Dataset, strict bool) comparison
}

// comparison compares outputs with gold ones.
type comparison interface {
	// add compares an output with that of example i of d.
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
