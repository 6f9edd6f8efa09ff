package tasks

import (
	"io"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/remarks"
	images "github.com/dsp-go/dsp/models/drawn/ocr"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/structured"
)

// Task ocr reads words from images of their letters.
var _ = builtin(Task{
	Name:    "ocr",
	Outputs: "labels",
	Summary: "words, from images of their letters",
	Labels:  true,
	Takes: []string{
		"difficulty", "order", "edges", "label-weights", "loss-by-length", "class-weights", "constraints",
	},
	Check:         checkLabels,
	Draw:          drawWords,
	ReadAll:       readFold,
	Memory:        labelMemory,
	Fit:           inputs.Fit,
	Output:        labelOutput,
	Net:           labelNet,
	LogLikelihood: labelLogLikelihood,
	Loss:          hamming,
	Baselines:     true,
	Layout:        labelLayout,
	Write:         writeLabels,
	Files:         true,
	Compare:       compareLabels,
	Review:        func(labels *structured.Alphabet) review.Reviewer { return review.Labels(labels, "letter") },
	Metrics:       labelMetrics,
	Metric:        chooseLabelMetric,
	Result:        "errors are shares of wrong letters and of words with any mistake",
	Columns:       []Column{{"letters", "token_error"}, {"words", "sequence_error"}, {"entity F1", "f1"}},
})

func drawWords(c *config.Config) (train, dev, test *structured.Dataset, err error) {
	o := images.OCRWords{Difficulty: c.Difficulty, Seed: c.Seed}
	o.Train, o.Dev, o.Test = c.Examples[0], c.Examples[1], c.Examples[2]
	if err := o.Validate(); err != nil {
		return nil, nil, nil, err
	}
	train, dev, test = o.Generate()
	return train, dev, test, nil
}

// readFold parts a file of letters by its folds, if c holds one out.
func readFold(c *config.Config, say *remarks.Remarks) (train, dev, test *structured.Dataset, ok bool, err error) {
	if !formats.Find(c.Format).Images || c.Fold < 0 {
		return nil, nil, nil, false, nil
	}
	err = formats.Open(c.Train, func(r io.Reader) error {
		letters, err := images.ReadLetters(r, c.Train, say)
		if err != nil {
			return err
		}
		train, test, err = letters.Split(c.Fold)
		return err
	})
	return train, nil, test, true, err
}
