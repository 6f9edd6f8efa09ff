package tasks

import (
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/treebank"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// Task parse finds the dependency trees of sentences.
var _ = builtin(Task{
	Name:      "parse",
	MostWords: 5000,
	Outputs:   "trees",
	Summary:   "dependency trees of sentences",
	Takes: []string{
		"max-words", "dense", "standardise", "encoder", "tree", "order", "crossing", "features", "template",
		"hash-bits", "vectors", "min-count",
	},
	Check: func(c config.Config) error {
		if c.Features != "auto" && c.Features != "parse" && c.Features != "none" {
			return structured.BadInput("--features %s makes attributes of tokens; --task parse has those of "+
				"arcs, --features parse", c.Features)
		}
		return checkSiblings(c)
	},
	Known:      treebank.ReadPartial,
	FileFormat: formats.Treebank(),
	Reading:    func(o *formats.Options) { o.Trees = true },
	Draw:       drawTrees,
	Examples:   treebankSizes,
	Prepare:    projectivise,
	Memory:     treeMemory,
	Fit:        inputs.FitTrees,
	Words:      inputs.TreeWords,
	Load:       inputs.LoadArcs,
	Output: func(c config.Config, _ inputs.Inputs, labels int) nets.Output {
		return nets.Output{Labels: labels,
			Form: trees.SpanningTree{NonProjective: c.Tree == "nonprojective", Siblings: c.Order == 2}.Form(labels)}
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
	Tensors:       []string{"heads", "relations", "lengths"},
	Layout: func(names *structured.Alphabet, o predictions.Options, asJSON bool) predictions.Layout {
		if asJSON {
			return predictions.TreeJSON(names, o)
		}
		return predictions.TreeColumns(names, o)
	},
	Files:   true,
	Compare: compareTrees,
	Review:  review.Trees,
	Picture: drawTreePicture,
	Metrics: []Metric{
		{"las", "LAS", func(m *structured.Metrics) float64 { return m.Get("las") }, share("las", "words")},
		{"uas", "UAS", func(m *structured.Metrics) float64 { return m.Get("uas") }, share("uas", "words")},
	},
	Result:  "UAS is the share of words with the right head, LAS with the right head and relation",
	Columns: []Column{{"UAS", "uas"}, {"LAS", "las"}},
})

// checkSiblings refuses what goes with trees without scores of siblings only.
func checkSiblings(c config.Config) error {
	if c.Order < 2 {
		return nil
	}
	kind, _, err := config.ParseDevice(c.Device)
	switch {
	case err != nil:
		return err
	case c.Tree == "nonprojective":
		return structured.BadInput("--order 2 scores neighbouring dependents of a head, which makes the best tree NP-hard " +
			"to find if arcs may cross; use --tree projective")
	case c.Net != "auto" && !c.Preset().Linear || c.Features == "none":
		return structured.BadInput("--order 2 has scores of neighbouring dependents by attributes, for --net linear; leave " +
			"--net and --features out")
	case kind == config.CUDA:
		return structured.BadInput("--order 2 of trees is for the CPU; use --device cpu")
	}
	return nil
}

func compareTrees(names *structured.Alphabet, d *structured.Dataset, _ bool) Comparison {
	if d.Alphabet.Len() > names.Len() {
		names = d.Alphabet // the model's, then labels unknown to it
	}
	return &treeComparison{trees.NewEvaluator(names)}
}

type treeComparison struct{ evaluator *trees.Evaluator }

func (c *treeComparison) Add(d *structured.Dataset, i int, y []int32) {
	c.evaluator.Add(trees.FromOutput(d.Gold(i)), trees.FromOutput(y), treebank.Of(d).Punctuation(i))
}

func (c *treeComparison) Report() Report { return &TreeReport{c.evaluator.Metrics()} }

type TreeReport struct{ trees.Metrics }

func (r *TreeReport) General() structured.Metrics { return r.Metrics.General() }

func (r *TreeReport) Text(ReportOptions) string { return r.Table() }
