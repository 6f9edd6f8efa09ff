package models

import (
	"context"

	"github.com/dsp-go/dsp/structured"
)

// Report is what there is to say of a model's labels beside the gold ones.
type Report struct {
	structured.Metrics
	Labels    []structured.LabelScore `json:"labels"`    // of every label, by name
	Confusion []structured.Mistake    `json:"confusion"` // which label was taken for which, the most frequent first
}

// Evaluate compares the model's labels with the gold ones of d. Entities are compared as NewEvaluator describes. Gold labels
// that the model does not know, which follow those it knows in d.Alphabet, count as mistakes.
func (m *Model) Evaluate(ctx context.Context, d *structured.Dataset, strict bool, threads int) (structured.Metrics, error) {
	r, err := m.Report(ctx, d, strict, threads)
	return r.Metrics, err
}

// Report is Evaluate in more words.
func (m *Model) Report(ctx context.Context, d *structured.Dataset, strict bool, threads int) (Report, error) {
	if d.Labels == nil {
		return Report{}, structured.BadInput("%s: no labels to compare with", d.Name)
	}
	labels := m.Labels
	if d.Alphabet.Len() > labels.Len() {
		labels = d.Alphabet // with more at its end, which the model does not know
	}
	e, c := structured.NewEvaluator(labels, strict), structured.NewConfusion(labels)
	err := m.Predict(ctx, d, PredictOptions{Threads: threads}, func(i int, p *Prediction) error {
		e.Add(d.Gold(i), p.Labels)
		c.Add(d.Gold(i), p.Labels)
		return nil
	})
	return Report{e.Metrics(), c.Labels(), c.Mistakes()}, err
}
