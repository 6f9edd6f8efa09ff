package tasks

import (
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/structured"
)

// tag labels the tokens of text, or rows of features.
var tag = Task{
	Name:    "tag",
	Outputs: "labels",
	Labels:  true,
	Check: func(c config.Config) error {
		if c.Format == formats.Builtin || formats.Find(c.Format).Images {
			return structured.BadInput("--format %s has images of words: use --task ocr", c.Format)
		}
		return checkLabels(c)
	},
	Memory:        labelMemory,
	Fit:           inputs.Fit,
	Output:        labelOutput,
	Net:           labelNet,
	LogLikelihood: labelLogLikelihood,
	Loss:          hamming,
	Layout:        labelLayout,
	Compare:       compareLabels,
	Review:        func(labels *structured.Alphabet) review.Reviewer { return review.Labels(labels, "token") },
	Metrics:       labelMetrics,
	Metric:        chooseLabelMetric,
	Result:        "errors are shares of wrong tokens and of sequences with any mistake",
	Columns:       []Column{{"tokens", "token_error"}, {"sequences", "sequence_error"}, {"entity F1", "f1"}},
}
