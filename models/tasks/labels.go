package tasks

import (
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// What the tasks have in common that label each position of a sequence: ocr and tag.

func checkLabels(c config.Config) error {
	switch {
	case c.Edges == nets.EdgesOwn || c.Edges == nets.EdgesTyped || c.Edges == nets.EdgesPotts:
		return structured.BadInput("--edges %s: graphs have them (--task graph and segment); sequences have "+
			"transition, position or none", c.Edges)
	case c.Features == "parse":
		return structured.BadInput("--features parse makes attributes of arcs, for --task parse")
	case c.Features == "align":
		return structured.BadInput("--features align makes attributes of pairs of words, for --task align")
	}
	return checkOrder(c)
}

// checkOrder refuses what goes with neighbouring labels only.
func checkOrder(c config.Config) error {
	switch {
	case c.Order == 1:
	case c.Structure != "chain":
		return structured.BadInput("--order 2 is for --structure chain; segments see more than two labels anyway")
	case c.Edges != nets.EdgesTransition:
		return structured.BadInput("--order 2 has one score for each step between labels, --edges transition, not %s",
			c.Edges)
	case c.Partial:
		return structured.BadInput("--order 2 takes the steps between labels from the training data, whose labels must be " +
			"known; leave out --partial")
	}
	return nil
}

func labelOutput(c config.Config, in inputs.Inputs, labels int) nets.Output {
	if in.Steps != nil {
		return nets.Output{Labels: labels, Form: chains.SecondForm(in.Steps)}
	}
	return nets.ChainOutput(labels, c.Edges)
}

func labelNet(in graph.Input) string {
	switch {
	case len(in.Vocab) > 0:
		return "embed"
	case in.Dim == nets.ImageHeight*nets.ImageWidth:
		return "cnn-image"
	}
	return "mlp"
}

func labelLogLikelihood(c config.Config, in inputs.Inputs) bool {
	return in.Dictionary != nil || in.TunesEncoder() || c.Preset().Crf
}

func labelLayout(labels *structured.Alphabet, o predictions.Options, asJSON bool) predictions.Layout {
	switch {
	case asJSON:
		return predictions.JSON(labels, o)
	case o.Spans:
		return predictions.SpanLines(labels)
	}
	return predictions.Columns(labels, o)
}

func compareLabels(labels *structured.Alphabet, d *structured.Dataset, strict bool) Comparison {
	scheme := ""
	if strict {
		scheme = chains.NotationOfData(d).Scheme
	}
	return CompareTags(labels, d, strict, scheme)
}

// CompareTags compares labels that are entity tags of a scheme; if it is empty, they may be any labels.
func CompareTags(labels *structured.Alphabet, d *structured.Dataset, strict bool, scheme string) Comparison {
	if d.Alphabet.Len() > labels.Len() {
		labels = d.Alphabet // the model's, then labels unknown to it
	}
	return &labelComparison{chains.NewEvaluator(labels, strict, scheme), chains.NewConfusion(labels)}
}

type labelComparison struct {
	evaluator *chains.Evaluator
	confusion *chains.Confusion
}

func (c *labelComparison) Add(d *structured.Dataset, i int, labels []int32) {
	c.evaluator.Add(d, i, labels)
	c.confusion.Add(d.Gold(i), labels)
}

func (c *labelComparison) measures() structured.Metrics { return c.evaluator.Metrics() }

func (c *labelComparison) Report() Report {
	return &LabelReport{c.evaluator.Labels(), c.confusion.Labels(), c.confusion.Mistakes()}
}

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
