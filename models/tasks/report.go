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

// Comparison compares outputs with gold ones.
type Comparison interface {
	// Add compares an output with that of example i of d.
	Add(d *structured.Dataset, i int, y []int32)
	Report() Report
}

// ScoredComparison is a Comparison whose measures depend on the scores of outputs.
type ScoredComparison interface {
	Comparison
	// AddScored is Add with the score.
	AddScored(d *structured.Dataset, i int, p *predictions.Prediction)
}

// Repeatable is a Comparison that takes long to start.
type Repeatable interface {
	Comparison
	// Again starts a comparison of the same data that has no outputs yet.
	Again() Comparison
}
