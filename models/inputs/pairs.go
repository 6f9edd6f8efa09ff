package inputs

import (
	"cmp"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/features/pairs"
	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Pairs is the Maker of what describes the pairs of a source and a target item: attributes from the words of sentence
// pairs, or dense features that the data come with.
type Pairs struct {
	Template   *pairs.Template // nil for dense features
	Statistics *pairs.Statistics
	Dictionary *pairs.Dictionary

	Dim int // dense features of each pair, which are attributes 0 to Dim−1; 0 with a template
}

// PairWords are the columns of sentence pairs that become discrete inputs.
var PairWords = []string{"word"}

// defaultPairCount is the default least count of an attribute of word pairs with weights.
const defaultPairCount = 2

// FitPairs is Fit for sentence pairs and pairs of other items.
func FitPairs(c *config.Config, t Training) (Inputs, error) {
	train := t.All
	in := Inputs{Features: "none", Words: PairWords}
	p := c.Preset()
	reads := c.Net != "auto" && (len(p.Reads) == 0 || p.CanRead(nets.ReadsWords)) // the items' words
	if reads && train.Column(PairWords[0]) != nil {
		if err := in.fitWords(c, Alone(train)); err != nil {
			return Inputs{}, err
		}
		if err := in.encode(train); err != nil {
			return Inputs{}, err
		}
	}
	if c.Format == formats.NPZ {
		dense := train.Table(structured.Pairs).Attributes
		if c.Template != "" || c.Features != "auto" && c.Features != "none" || c.Bitext != "" {
			return Inputs{}, structured.BadInput("%s has features of pairs; --template, --features and --bitext make "+
				"attributes of the words of text", train.Name)
		}
		in.Features = ""
		in.Own = &Pairs{Dim: dense.Offsets[1] - dense.Offsets[0]}
		return in, nil
	}
	if c.Features == "none" {
		if !reads {
			return Inputs{}, structured.BadInput("--net %s reads attributes of pairs of words, but --features none makes "+
				"none; use --features align, a --template, or --net bilinear",
				cmp.Or(c.Net, "linear"))
		}
		return in, nil
	}
	own, set, err := fitPairs(c, train)
	if err != nil {
		return Inputs{}, err
	}
	in.Own, in.Features = own, set
	return in, own.Apply(train, c.Threads)
}

// fitPairs counts the words of the training data, and of more text if c names some, and collects the attributes of the
// training data.
func fitPairs(c *config.Config, train *structured.Dataset) (in *Pairs, set string, err error) {
	text, name, set := pairs.Builtin(), "align"+templateSuffix, "align"
	if c.Template != "" {
		content, err := host.ReadText(c.Template, mostTemplate)
		if err != nil {
			return nil, "", structured.BadInput("--template: %w", err)
		}
		text, name, set = string(content), c.Template, "auto"
	}
	in = &Pairs{}
	if in.Template, err = pairs.Parse(text, name); err != nil {
		return nil, "", err
	}
	corpora := []*alignments.Corpus{alignments.Of(train)}
	if c.Bitext != "" {
		more, err := formats.ReadBitext(c.Bitext)
		if err != nil {
			return nil, "", err
		}
		corpora = append(corpora, more)
	}
	if in.Statistics, err = pairs.Count(c.Threads, corpora...); err != nil {
		return nil, "", err
	}
	o := templates.Options{HashBits: c.HashBits, Threads: c.Threads}
	if c.HashBits == 0 {
		o.MinCount = cmp.Or(c.MinCount, defaultPairCount)
	}
	in.Dictionary, err = in.Template.Fit(in.Statistics, corpora[0], o)
	return in, set, err
}

// Attributes returns how many attributes pairs and source items have.
func (in *Pairs) Attributes() (pair, source int) {
	if in.Template == nil {
		return in.Dim, 0
	}
	return in.Dictionary.Pair.Nodes(), in.Dictionary.Source.Nodes()
}

// Apply implements Maker. Dense features are there already.
func (in *Pairs) Apply(d *structured.Dataset, threads int) error {
	if in.Template == nil {
		return in.checkDense(d)
	}
	return pairs.Apply(in.Template, in.Statistics, in.Dictionary, d, threads)
}

func (in *Pairs) checkDense(d *structured.Dataset) error {
	t := d.Table(structured.Pairs)
	if t == nil || t.Attributes == nil {
		return structured.BadInput("%s: no features of pairs; the model reads %d of each, from an npz file", d.Name, in.Dim)
	}
	x := t.Attributes
	if got := len(x.Index) / max(1, len(x.Offsets)-1); got != in.Dim {
		return structured.BadInput("%s: %d features of each pair, expected %d as in the training data", d.Name, got, in.Dim)
	}
	return nil
}

func (in *Pairs) Extractor() func(d *structured.Dataset) error {
	if in.Template == nil {
		return in.checkDense
	}
	e := pairs.NewExtractor(in.Template, in.Statistics, in.Dictionary)
	return func(d *structured.Dataset) error {
		c := alignments.Of(d)
		pair, source := &structured.Sparse{Offsets: []int{0}}, &structured.Sparse{Offsets: []int{0}}
		for i := range c.Len() {
			e.Extract(c.Source(i), c.Target(i), pair, source)
		}
		d.SetAttributes(structured.Shape{Rows: structured.Pairs}, pair)
		d.SetAttributes(structured.Shape{Rows: structured.Sources}, source)
		return nil
	}
}

func (in *Pairs) Names() []*structured.Alphabet {
	if in.Template == nil {
		return nil
	}
	return append(in.Statistics.Names(), in.Dictionary.Pair.Node, in.Dictionary.Source.Node)
}

func (in *Pairs) Missing(d *structured.Dataset) string {
	if t := d.Table(structured.Pairs); t == nil || t.Attributes == nil {
		return "attributes of pairs"
	}
	return ""
}

// Network implements Maker. Without attributes of source items, one weight for each entry of the second part is a bias:
// the price of leaving an item unmatched, or the scores of steps.
func (in *Pairs) Network(form structured.Form, dim int) (nets.Network, error) {
	pair, source := in.Attributes()
	second := "unmatched"
	if len(form.Parts) > 1 {
		second = form.Parts[1].Name
	}
	parts := []sparse.Part{{Attributes: pair, Weights: "pair_attributes"},
		{Attributes: source, Weights: "source_attributes"}}
	if source == 0 {
		parts[1] = sparse.Part{Bias: second}
	}
	if dim > 0 {
		parts[0].Dense = []sparse.Dense{{Weights: "pair_of_source", Dim: dim, Of: sparse.OfSource},
			{Weights: "pair_of_target", Dim: dim, Of: sparse.OfTarget}}
		parts[1].Dense = []sparse.Dense{{Weights: second + "_of_source", Dim: dim, Of: sparse.OfSource}}
	}
	return sparse.New(form, parts[:min(len(parts), len(form.Parts))]), nil
}

// Baseline predicts the gold outputs' stand-ins without training: it links words in the order of falling Dice
// coefficients, each word once (Melamed 2000). It returns nil without statistics of words.
func (in *Pairs) Baseline() func(d *structured.Dataset, i int) []int32 {
	if in.Statistics == nil {
		return nil
	}
	var of *structured.Dataset
	var c *alignments.Corpus
	return func(d *structured.Dataset, i int) []int32 {
		if of != d {
			of, c = d, alignments.Of(d)
		}
		return in.Statistics.Link(c.Source(i), c.Target(i))
	}
}
