package tasks

import (
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/structured"
)

// tag labels the tokens of text, or rows of features.
var tag = builtin(Task{
	Name:    "tag",
	Outputs: "labels",
	Summary: "labels of tokens of text, or of rows of features",
	Labels:  true,
	Takes: []string{
		"max-words", "dense", "standardise", "encoder", "label", "scheme", "structure", "order", "max-length", "overlong",
		"segment-loss", "segment-ends", "partial", "features", "template", "clusters", "gazetteer", "hash-bits", "edges",
		"vectors", "min-count", "label-weights", "loss-by-length", "class-weights", "constraints",
	},
	Check:         checkTags,
	Complete:      completeSegments,
	Prepare:       prepareSegments,
	Decide:        decideLength,
	Memory:        labelMemory,
	Fit:           inputs.Fit,
	Output:        tagOutput,
	Net:           labelNet,
	LogLikelihood: labelLogLikelihood,
	Loss:          tagLoss,
	Layout:        labelLayout,
	Write:         writeLabels,
	Files:         true,
	Compare:       compareLabels,
	Review:        func(labels *structured.Alphabet) review.Reviewer { return review.Labels(labels, "token") },
	Metrics:       labelMetrics,
	Metric:        chooseLabelMetric,
	Result:        "errors are shares of wrong tokens and of sequences with any mistake",
	Columns:       []Column{{"tokens", "token_error"}, {"sequences", "sequence_error"}, {"entity F1", "f1"}},
})
