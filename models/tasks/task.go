// Package tasks holds the tasks that models learn: what each predicts, how its outputs are compared, written and drawn, and which
// settings go with it.
package tasks

import (
	"github.com/dsp-go/dsp/models/predictions"
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
	// Layout returns how predictions are written.
	Layout(labels *structured.Alphabet, o predictions.Options, asJSON bool) predictions.Layout
	// Comparison starts a comparison of outputs with those of d.
	Comparison(labels *structured.Alphabet, d *structured.Dataset, strict bool) comparison
}

// comparison compares outputs with gold ones.
type comparison interface {
	// Add compares an output with that of example i of d.
	Add(d *structured.Dataset, i int, y []int32)
	Report() Report
}

// TaskOf returns the task of that name.
func TaskOf(name string) task {
	if name == "parse" {
		return parsing{}
	}
	return tagging{}
}

// predictSome is Model.Predict.
type predictSome func(d *structured.Dataset, o predictions.Options, yield func(i int, p *predictions.Prediction) error) error

// Pictured is a task whose outputs can be drawn.
type Pictured interface {
	// Picture draws the predicted outputs of a few examples of d to a .svg or .png file.
	Picture(d *structured.Dataset, labels *structured.Alphabet, path string, predict predictSome) error
}
