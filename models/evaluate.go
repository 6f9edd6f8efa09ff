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
