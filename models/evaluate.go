package models

import (
	"context"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// Evaluate compares the model's outputs with the gold ones of d. Entities are compared as chains.NewEvaluator
// describes. Gold labels that the model does not know, which follow those it knows in d.Alphabet, count as mistakes.
func (m *Model) Evaluate(ctx context.Context, d *structured.Dataset, strict bool, threads int) (structured.Metrics, error) {
	r, err := m.Report(ctx, d, strict, threads)
	if err != nil {
		return structured.Metrics{}, err
	}
	return r.General(), nil
}

// Report is a more detailed Evaluate.
func (m *Model) Report(ctx context.Context, d *structured.Dataset, strict bool, threads int) (tasks.Report, error) {
	return m.ReportOf(ctx, d, strict, predictions.Options{Threads: threads})
}

// ReportOf is a Report of the outputs that o asks for.
func (m *Model) ReportOf(ctx context.Context, d *structured.Dataset, strict bool, o predictions.Options) (tasks.Report, error) {
	return m.Compare(ctx, d, strict, o, func(int, *predictions.Prediction) {})
}

// Review is Report, and says how sure the model was of its outputs beside the gold ones. It shows the predictions to
// looks, too.
func (m *Model) Review(ctx context.Context, d *structured.Dataset, strict bool, threads int, looks ...func(i int, p *predictions.Prediction)) (tasks.Report, *review.Review, error) {
	r, by := &review.Review{Probabilities: m.Sums() != nil}, tasks.Of(&m.Config).Review(m.Labels)
	o := by.Options(r.Probabilities)
	o.Threads = threads
	o.Entropy = m.CheckQuestions(predictions.Options{Entropy: true}) == nil
	r.Entropies = o.Entropy
	report, err := m.Compare(ctx, d, strict, o, func(i int, p *predictions.Prediction) {
		by.Add(d, i, p, r)
		for _, look := range looks {
			look(i, p)
		}
	})
	return report, r, err
}

// Compare is Report on the predictions with options o, which it shows to look in the order of the data.
func (m *Model) Compare(ctx context.Context, d *structured.Dataset, strict bool, o predictions.Options, look func(i int, p *predictions.Prediction)) (tasks.Report, error) {
	if d.Labels == nil {
		return nil, structured.BadInput("%s: no labels to compare with", d.Name)
	}
	c := tasks.Of(&m.Config).Compare(m.Labels, d, strict)
	err := m.Predict(ctx, d, o, func(i int, p *predictions.Prediction) error {
		look(i, p)
		if scored, ok := c.(tasks.ScoredComparison); ok {
			scored.AddScored(d, i, p)
		} else {
			c.Add(d, i, p.Labels)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.Report(), nil
}

// Draw draws the predicted outputs of a few examples of d to a .svg, .png or .pdf file. Of several ranks, rank 0 alone
// does.
func (m *Model) Draw(ctx context.Context, d *structured.Dataset, path string) error {
	task := tasks.Of(&m.Config)
	if task.Picture == nil {
		return structured.BadInput("%s: pictures show %s, which --task %s does not predict", path, tasks.Pictured(), m.Config.Task)
	}
	if !m.leads() {
		return nil
	}
	if err := m.complete(d, 0); err != nil {
		return err
	}
	m = m.Alone()
	return task.Picture(d, m.Labels, path, func(some *structured.Dataset, o predictions.Options, yield func(i int, p *predictions.Prediction) error) error {
		return m.Predict(ctx, some, o, yield)
	})
}

// Write writes the predicted outputs for d to files, as the task has it. Of several ranks, rank 0 alone writes.
func (m *Model) Write(ctx context.Context, d *structured.Dataset, o predictions.Options, path string) error {
	write := tasks.Of(&m.Config).Write
	if write == nil {
		return structured.BadInput("--to %s: --task %s has no arrays; a name that does not end in .npz gets what is printed", path, m.Config.Task)
	}
	if !m.leads() {
		return m.Predict(ctx, d, o, func(int, *predictions.Prediction) error { return nil })
	}
	return write(&m.Config, d, m.Labels, o, path, func(some *structured.Dataset, o predictions.Options, yield func(i int, p *predictions.Prediction) error) error {
		return m.Predict(ctx, some, o, yield)
	})
}
