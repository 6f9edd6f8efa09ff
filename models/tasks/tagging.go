package tasks

import (
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// tagging is the task of labelling each position of a sequence: ocr and tag.
type tagging struct{}

func (tagging) Layout(labels *structured.Alphabet, o predictions.Options, asJSON bool) predictions.Layout {
	if asJSON {
		return predictions.JSON(labels, o)
	}
	return predictions.Columns(labels, o)
}

func (tagging) Comparison(labels *structured.Alphabet, d *structured.Dataset, strict bool) comparison {
	if d.Alphabet.Len() > labels.Len() {
		labels = d.Alphabet // the model's, then labels unknown to it
	}
	return &labelComparison{chains.NewEvaluator(labels, strict), chains.NewConfusion(labels)}
}

// labelComparison compares labels.
type labelComparison struct {
	evaluator *chains.Evaluator
	confusion *chains.Confusion
}

func (c *labelComparison) Add(d *structured.Dataset, i int, labels []int32) {
	c.evaluator.Add(d, i, labels)
	c.confusion.Add(d.Gold(i), labels)
}

func (c *labelComparison) Report() Report {
	return &LabelReport{c.evaluator.Labels(), c.confusion.Labels(), c.confusion.Mistakes()}
}

// LabelReport is the Report of labels.
type LabelReport struct {
	chains.Metrics
	Labels    []chains.LabelScore `json:"labels"`    // of every label, by name
	Confusion []chains.Mistake    `json:"confusion"` // which label was taken for which, the most frequent first
}

// Text implements Report. Labels that are not entity tags always have their scores shown.
func (r *LabelReport) Text(o ReportOptions) string {
	text := r.Table()
	if o.Labels || r.EntityMetrics == nil {
		text += "\n" + chains.LabelTable(r.Labels)
	}
	if o.Confusions > 0 {
		text += "\n" + chains.MistakeTable(r.Confusion, o.Confusions)
	}
	return text
}
