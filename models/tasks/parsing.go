package tasks

import (
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// parsing is the task of finding the dependency trees of sentences.
type parsing struct{}

func (parsing) Layout(labels *structured.Alphabet, o predictions.Options, asJSON bool) predictions.Layout {
	if asJSON {
		return predictions.TreeJSON(labels, o)
	}
	return predictions.TreeColumns(labels, o)
}

func (parsing) Comparison(labels *structured.Alphabet, d *structured.Dataset, _ bool) comparison {
	names := labels
	if d.Alphabet.Len() > names.Len() {
		names = d.Alphabet // the model's, then labels unknown to it
	}
	return &treeComparison{trees.NewEvaluator(names)}
}

// treeComparison compares trees.
type treeComparison struct{ evaluator *trees.Evaluator }

func (c *treeComparison) Add(d *structured.Dataset, i int, y []int32) {
	c.evaluator.Add(trees.FromOutput(d.Gold(i)), trees.FromOutput(y), trees.Of(d).Punctuation(i))
}

func (c *treeComparison) Report() Report { return &TreeReport{c.evaluator.Metrics()} }

// TreeReport is the Report of trees.
type TreeReport struct{ trees.Metrics }

// General implements Report.
func (r *TreeReport) General() structured.Metrics { return r.Metrics.General() }

// Text implements Report.
func (r *TreeReport) Text(ReportOptions) string { return r.Table() }
