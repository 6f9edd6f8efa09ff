package models

import (
	"context"

	"github.com/dsp-go/dsp/structured"
)

// Evaluate compares the model's labels with the gold ones of d. Entities are compared as NewEvaluator describes.
func (m *Model) Evaluate(ctx context.Context, d *structured.Dataset, strict bool, threads int) (structured.Metrics, error) {
	if d.Labels == nil {
		return structured.Metrics{}, structured.BadInput("%s: no labels to compare with", d.Name)
	}
	e := structured.NewEvaluator(m.Labels, strict)
	err := m.Predict(ctx, d, PredictOptions{Threads: threads}, func(i int, p *Prediction) error {
		e.Add(d.Gold(i), p.Labels)
		return nil
	})
	return e.Metrics(), err
}
