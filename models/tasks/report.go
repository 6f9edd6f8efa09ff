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

// Add compares an output with that of example i of d, with its score where that counts.
func Add(c Comparison, d *structured.Dataset, i int, p *predictions.Prediction) {
	if scored, ok := c.(ScoredComparison); ok {
		scored.AddScored(d, i, p)
		return
	}
	c.Add(d, i, p.Labels)
}

// measured is a Comparison that has its main metrics without a report.
type measured interface{ measures() structured.Metrics }

// Measures returns the main metrics of the outputs so far.
func Measures(c Comparison) structured.Metrics {
	if m, ok := c.(measured); ok {
		return m.measures()
	}
	return c.Report().General()
}

// Repeatable is a Comparison that takes long to start.
type Repeatable interface {
	Comparison
	// Again starts a comparison of the same data that has no outputs yet.
	Again() Comparison
}
