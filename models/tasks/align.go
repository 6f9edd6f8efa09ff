package tasks

import (
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/drawn/bitext"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/matchings"
)

// Task align links the words of sentence pairs, or other source items with target items, one to one.
var _ = builtin(Task{
	Name:      "align",
	MostWords: 5000,
	Outputs:   "links",
	Summary:   "links of the words of sentence pairs",
	Nameless:  true,
	Takes: []string{
		"max-words", "links", "bitext", "unmatched", "features", "template", "hash-bits", "vectors", "encoder",
		"min-count", "pair-units", "miss-cost", "false-cost",
	},
	Check:      checkAlign,
	Known:      alignments.KeepLinks,
	FileFormat: formats.Pairs,
	Reading:    func(o *formats.Options) { o.Pairs = &alignments.Matchings },
	Draw:       drawPairs,
	Examples: func() settings.Sizes {
		o := bitext.DefaultOptions()
		return settings.Sizes{o.Train, o.Dev, o.Test}
	},
	Prepare: checkComplete,
	Fit:     inputs.FitPairs,
	Words:   inputs.PairWords,
	Load:    inputs.LoadPairs,
	Output: func(c config.Config, _ inputs.Inputs, labels int) nets.Output {
		return nets.Output{Labels: labels, Form: matchings.Matching{Complete: c.Unmatched == "never"}.Form()}
	},
	Net:           func(graph.Input) string { return "bilinear" },
	LogLikelihood: func(config.Config, inputs.Inputs) bool { return false },
	Loss: func(c *config.Config, _ *structured.Alphabet) (structured.TaskLoss, error) {
		return matchings.Loss{Miss: float32(c.MissCost), False: float32(c.FalseCost)}, nil
	},
	Untrained: func(in inputs.Inputs) (string, func(d *structured.Dataset, i int) []int32) {
		if own, ok := in.Own.(*inputs.Pairs); ok {
			return "greedy by Dice", own.Baseline()
		}
		return "", nil
	},
	Links:   &alignments.Matchings,
	Request: Pairs,
	Tensors: []string{"links"},
	Layout: func(_ *structured.Alphabet, o predictions.Options, asJSON bool) predictions.Layout {
		if asJSON {
			return predictions.LinksJSON(alignments.Matchings, o)
		}
		return predictions.Links(alignments.Matchings, o)
	},
	CompareFiles: compareLinks,
	Compare: func(_ *structured.Alphabet, d *structured.Dataset, _ bool) Comparison {
		return &linkComparison{alignments.NewEvaluator()}
	},
	Review: func(*structured.Alphabet) review.Reviewer { return review.Links(alignments.Matchings) },
	Metrics: []Metric{
		{"aer", "1 − AER", func(m *structured.Metrics) float64 { return 1 - m.Get("aer") }, linkShare},
	},
	Result:  "AER is the alignment error rate, F1 that of links",
	Columns: []Column{{"AER", "aer"}, {"F1", "f1"}},
})

// noSums is why some losses, smoothings and methods do not go with matchings.
const noSums = "the sum over all matchings is #P-complete"

func checkAlign(c config.Config) error {
	if err := checkPairs(c); err != nil {
		return err
	}
	method, chosen := c.Optimiser()
	switch {
	case c.Loss == "crf" || c.Loss == "softmax-margin":
		return structured.BadInput("--loss %s does not go with --task align: %s; use --loss hinge", c.Loss, noSums)
	case c.Smoothing == "entropy":
		return structured.BadInput("--smoothing entropy does not go with --task align: %s; use --smoothing l2 or none",
			noSums)
	case chosen && method.Losses == optimisers.SmoothOnly, chosen && method.Losses == optimisers.SmoothLosses:
		return structured.BadInput("--method %s needs a smooth loss, and --task align has none: %s; use --method bcfw, "+
			"bcpfw, casimir or svrg", c.Method, noSums)
	case chosen && method.Losses == optimisers.SmoothObjectives && c.Mu == 0:
		return structured.BadInput("--method %s needs a smooth objective, and --task align has only the hinge: smooth it "+
			"with --mu, or use --method bcfw or casimir", c.Method)
	}
	return nil
}

// checkPairs refuses what does not go with pairs of texts.
func checkPairs(c config.Config) error {
	switch {
	case c.TuneEncoder:
		return structured.BadInput("--tune-encoder does not go with --task %s, whose encoder reads two texts of an example "+
			"and stays as it is; leave it out", c.Task)
	case c.Features != "auto" && c.Features != "align" && c.Features != "none":
		return structured.BadInput("--features %s makes attributes of tokens or arcs; --task %s has those of pairs of "+
			"words, --features align", c.Features, c.Task)
	}
	return nil
}

// drawPairs draws sentence pairs.
func drawPairs(c *config.Config) (train, dev, test *structured.Dataset, err error) {
	o := bitext.DefaultOptions()
	o.Train, o.Dev, o.Test = c.Examples[0], c.Examples[1], c.Examples[2]
	o.Seed = c.Seed
	if err := o.Validate(); err != nil {
		return nil, nil, nil, err
	}
	for k, to := range []**structured.Dataset{&train, &dev, &test} {
		*to = o.Parts()[k].Corpus().Dataset()
	}
	return train, dev, test, nil
}

// checkComplete refuses training data in which some source item stays unmatched, where c says that none may.
func checkComplete(c *config.Config, train *structured.Dataset) (*Change, error) {
	if c.Unmatched != "never" {
		return nil, nil
	}
	for i := range train.Len() {
		if n, m := alignments.Size(train, i); n > m {
			return nil, structured.BadInput("%s: %d source and %d target words: --unmatched never needs at least as many "+
				"target words; use --unmatched learned",
				train.Where(i), n, m)
		}
		if k := slices.Index(train.Gold(i), 0); k >= 0 {
			return nil, structured.BadInput("%s: source word %d has no sure link of its own: --unmatched never needs one for "+
				"each; use --unmatched learned",
				train.Where(i), k)
		}
	}
	return nil, nil
}

type linkComparison struct{ evaluator *alignments.Evaluator }

func (c *linkComparison) Add(d *structured.Dataset, i int, y []int32) { c.evaluator.Add(d, i, y) }

func (c *linkComparison) Report() Report { return &LinkReport{c.evaluator.Links()} }

type LinkReport struct{ alignments.Metrics }

func (r *LinkReport) Text(ReportOptions) string { return r.Table() }
