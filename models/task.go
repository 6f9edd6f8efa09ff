package models

import (
	"github.com/dsp-go/dsp/structured"
)

// Report compares a model's outputs with the gold ones. As JSON it is one object.
type Report interface {
	// General returns the main metrics by name.
	General() structured.Metrics
	// Text returns the report for people to read.
	Text(o ReportOptions) string
}

// ReportOptions say what Report.Text shows besides the main metrics, if the task has it.
type ReportOptions struct {
	Labels     bool // scores of every label
	Confusions int  // that many of the most frequent confusions; 0: none
}

// A task is what a model predicts: everything that depends on the kind of outputs, except the structure itself.
type task interface {
	// layout returns how predictions are written.
	layout(labels *structured.Alphabet, o PredictOptions, asJSON bool) layout
	// comparison starts a comparison of outputs with those of d.
	comparison(labels *structured.Alphabet, d *structured.Dataset, strict bool) comparison
}

// comparison compares outputs with gold ones.
type comparison interface {
	// add compares an output with that of example i of d.
	add(d *structured.Dataset, i int, y []int32)
	report() Report
}

// taskOf returns the task of that name.
func taskOf(name string) task {
	if name == "parse" {
		return parsing{}
	}
	return tagging{}
}

// predictSome is Model.Predict.
type predictSome func(d *structured.Dataset, o PredictOptions, yield func(i int, p *Prediction) error) error

// pictured is a task whose outputs can be drawn.
type pictured interface {
	// picture draws the predicted outputs of a few examples of d to a .svg or .png file.
	picture(d *structured.Dataset, labels *structured.Alphabet, path string, predict predictSome) error
}
