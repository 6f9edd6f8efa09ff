package tasks

import (
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/brackets"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/drawn/phrases"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
)

// Task constituency finds the trees of constituents of sentences.
var _ = builtin(Task{
	Name:      "constituency",
	MostWords: 5000,
	Outputs:   "trees of constituents",
	Summary:   "trees of constituents of sentences",
	Takes:     []string{"max-words", "dense", "encoder", "features", "template", "hash-bits", "vectors", "min-count"},
	Check: func(c config.Config) error {
		if c.Features != "auto" && c.Features != "none" {
			return structured.BadInput("--features %s makes other attributes; --task constituency has those of spans, without "+
				"this setting or by a --template", c.Features)
		}
		return nil
	},
	Known:      brackets.ReadPartial,
	FileFormat: formats.Brackets,
	Draw:       drawConstituents,
	Examples:   func() settings.Sizes { return phrases.DefaultSizes() },
	Memory:     treeMemory,
	Fit:        inputs.FitConstituents,
	Words:      inputs.SpanWords,
	Load:       inputs.LoadSpans,
	Output: func(_ config.Config, _ inputs.Inputs, labels int) nets.Output {
		return nets.Output{Labels: labels + 1, Form: constituents.Form(labels)}
	},
	Net: func(graph.Input) string { return "biaffine" },
	CheckNet: func(net string) error {
		if p, ok := nets.FindPreset(net); ok && !p.CanScore(nets.ScoresArcs) {
			return structured.BadInput("--net %s does not score trees; use --net linear or biaffine", net)
		}
		return nil
	},
	LogLikelihood: func(config.Config, inputs.Inputs) bool { return true },
	Request:       Sentences,
	Layout: func(names *structured.Alphabet, o predictions.Options, asJSON bool) predictions.Layout {
		if asJSON {
			return predictions.BracketJSON(names, o)
		}
		return predictions.Brackets(names, o)
	},
	Files: true,
	Compare: func(names *structured.Alphabet, d *structured.Dataset, _ bool) Comparison {
		if d.Alphabet.Len() > names.Len() {
			names = d.Alphabet // the model's, then labels unknown to it
		}
		return &bracketComparison{names, constituents.NewEvaluator()}
	},
	Review: review.Constituents,
	Metrics: []Metric{
		{"bracket-f1", "bracket F1", func(m *structured.Metrics) float64 { return m.Get("f1") }, entityShare},
		{"complete", "complete trees", func(m *structured.Metrics) float64 { return m.Get("complete") },
			share("complete", "sentences")},
	},
	Result:  "F1 is that of labelled brackets, complete the share of sentences whose brackets are all right",
	Columns: []Column{{"F1", "f1"}, {"complete", "complete"}},
})

// drawConstituents draws sentences with trees.
func drawConstituents(c *config.Config) (train, dev, test *structured.Dataset, err error) {
	var names *structured.Alphabet
	for k, to := range []**structured.Dataset{&train, &dev, &test} {
		trees, err := phrases.Draw(c.Examples, k, c.Seed)
		if err != nil {
			return nil, nil, nil, err
		}
		*to = brackets.Dataset(trees, names)
		(*to).Name = phrases.Names[k]
		names = (*to).Alphabet
	}
	return train, dev, test, nil
}

// bracketComparison compares trees of constituents.
type bracketComparison struct {
	names     *structured.Alphabet
	evaluator *constituents.Evaluator
}

func (c *bracketComparison) Add(d *structured.Dataset, i int, y []int32) {
	_, tags := brackets.WordsOf(d, i)
	skip := make([]bool, len(tags))
	for t, tag := range tags {
		skip[t] = isPunctuation(tag)
	}
	of := func(y []int32, names *structured.Alphabet) []constituents.Bracket {
		return constituents.Brackets(y, names, brackets.Split, skip)
	}
	c.evaluator.Add(of(d.Gold(i), d.Alphabet), of(y, c.names))
}

// isPunctuation reports whether EVALB leaves out words with that tag. The tag of Universal Dependencies is among them.
func isPunctuation(tag string) bool {
	return tag == "PUNCT" || tag != "" && strings.Trim(tag, ",:`'.") == "" || tag == "-NONE-"
}

func (c *bracketComparison) Report() Report { return &BracketReport{c.evaluator.Metrics()} }

// BracketReport is the Report of trees of constituents.
type BracketReport struct{ constituents.Metrics }

func (r *BracketReport) General() structured.Metrics { return r.Metrics.General() }

func (r *BracketReport) Text(ReportOptions) string { return r.Table() }
