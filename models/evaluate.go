package models

import (
	"context"

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

// Evaluate compares the model's outputs with the gold ones of d. Entities are compared as chains.NewEvaluator describes. Gold
// labels that the model does not know, which follow those it knows in d.Alphabet, count as mistakes.
func (m *Model) Evaluate(ctx context.Context, d *structured.Dataset, strict bool, threads int) (structured.Metrics, error) {
	r, err := m.Report(ctx, d, strict, threads)
	if err != nil {
		return structured.Metrics{}, err
	}
	return r.General(), nil
}

// Report is a more detailed Evaluate.
func (m *Model) Report(ctx context.Context, d *structured.Dataset, strict bool, threads int) (Report, error) {
	if d.Labels == nil {
		return nil, structured.BadInput("%s: no labels to compare with", d.Name)
	}
	c := m.Config.task().comparison(m, d, strict)
	err := m.Predict(ctx, d, PredictOptions{Threads: threads}, func(i int, p *Prediction) error {
		c.add(d, i, p.Labels)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.report(), nil
}

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
