package tasks

import (
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/drawn/spellings"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/monotone"
)

// Task warp links the items of two sequences in order: the links are a path from the pair of the first items to that of
// the last ones, and every step goes on in the source, in the target, or in both.
var _ = builtin(Task{
	Name:     "warp",
	Outputs:  "links",
	Summary:  "links of two sequences that keep their order, such as letters and sounds",
	Nameless: true,
	Formats:  []string{formats.Pairs, formats.NPZ},
	Takes: []string{
		"max-words", "links", "bitext", "features", "template", "hash-bits", "vectors", "encoder", "min-count", "pair-units",
		"miss-cost", "false-cost",
	},
	Check:      checkPairs,
	MostWords:  5000,
	Whole:      "scores of pairs and of steps cannot forbid that a path leaves a pair out",
	FileFormat: formats.Pairs,
	Reading:    func(o *formats.Options) { o.Pairs = &alignments.Paths },
	Draw: func(c *config.Config) (train, dev, test *structured.Dataset, err error) {
		for set, to := range []**structured.Dataset{&train, &dev, &test} {
			*to = spellings.Draw(c.Examples, set, c.Seed).DatasetOf(alignments.Paths)
		}
		return train, dev, test, nil
	},
	Examples: func() settings.Sizes { return spellings.DefaultSizes() },
	Prepare:  countOffPath,
	Fit:      inputs.FitPairs,
	Words:    inputs.PairWords,
	Load:     inputs.LoadPairs,
	Output: func(_ config.Config, _ inputs.Inputs, labels int) nets.Output {
		return nets.Output{Labels: labels, Form: monotone.Alignment{}.Form()}
	},
	Net:           func(graph.Input) string { return "bilinear" },
	LogLikelihood: func(config.Config, inputs.Inputs) bool { return true },
	Loss: func(c *config.Config, _ *structured.Alphabet) (structured.TaskLoss, error) {
		return monotone.Loss{Miss: float32(c.MissCost), False: float32(c.FalseCost)}, nil
	},
	Untrained: func(inputs.Inputs) (string, func(d *structured.Dataset, i int) []int32) {
		return "the diagonal", func(d *structured.Dataset, i int) []int32 {
			n, m := alignments.Size(d, i)
			return alignments.Path(n, m, nil)
		}
	},
	Links:   &alignments.Paths,
	Request: Pairs,
	Tensors: []string{"links"},
	Layout: func(_ *structured.Alphabet, o predictions.Options, asJSON bool) predictions.Layout {
		if asJSON {
			return predictions.LinksJSON(alignments.Paths, o)
		}
		return predictions.Links(alignments.Paths, o)
	},
	CompareFiles: compareLinks,
	Compare: func(_ *structured.Alphabet, d *structured.Dataset, _ bool) Comparison {
		return &linkComparison{alignments.NewEvaluatorOf(alignments.Paths)}
	},
	Review: func(*structured.Alphabet) review.Reviewer { return review.Links(alignments.Paths) },
	Metrics: []Metric{
		{"aer", "1 − AER", func(m *structured.Metrics) float64 { return 1 - m.Get("aer") }, linkShare},
	},
	Result:  "AER is the alignment error rate, F1 that of links",
	Columns: []Column{{"AER", "aer"}, {"F1", "f1"}},
})

// countOffPath says how many training pairs have links that are not those of the path that stands for them.
func countOffPath(_ *config.Config, train *structured.Dataset) (*Change, error) {
	off := 0
	for i := range train.Len() {
		kinds, sure := map[[2]int32]alignments.Link{}, 0
		for _, l := range alignments.GoldLinks(train, i) {
			kinds[[2]int32{l.Source, l.Target}] = l
			if l.Sure {
				sure++
			}
		}
		wrong := false
		for _, l := range alignments.OfPath(train.Gold(i)) {
			link, known := kinds[[2]int32{l.Source, l.Target}]
			wrong = wrong || !known
			if link.Sure {
				sure--
			}
		}
		if wrong || sure > 0 {
			off++
		}
	}
	if off == 0 {
		return nil, nil
	}
	return &Change{"links of some training pairs are no path, and the nearest path is learned in their place",
		[]any{"pairs", off}}, nil
}
