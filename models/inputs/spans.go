package inputs

import (
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/brackets"
	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// Spans is the Maker of the attributes of spans of words: those of arcs, from the last word of a span to the first. The
// spans of a tree of constituents have the rows that arcs have, and a row whose last word is before the first has no
// attributes.
type Spans struct{ Arcs }

// SpanWords are the columns of sentences that become discrete inputs of networks for constituents.
var SpanWords = []string{"word", "upos"}

// FitConstituents is Fit for trees of constituents.
func FitConstituents(c *config.Config, data Training) (Inputs, error) {
	train := data.All
	linear := c.Preset().Linear || c.Net == "auto" && c.Features != "none"
	switch {
	case !linear && c.Template != "":
		return Inputs{}, structured.BadInput("--template %s makes attributes of spans, which --net %s does not "+
			"read; use --net linear", c.Template, c.Net)
	case linear && c.Features == "none":
		return Inputs{}, structured.BadInput("--net linear reads attributes of spans, but --features none makes none; " +
			"leave it out, or use --net biaffine")
	case !linear:
		return fitColumns(c, train, SpanWords)
	}
	t, err := pairTemplate(c, arcs.BuiltinSpans(), "spans")
	if err != nil {
		return Inputs{}, err
	}
	in, err := fitSpans(t, train, pairOptions(c))
	if err != nil {
		return Inputs{}, err
	}
	return Inputs{Features: "auto", Words: SpanWords, Own: in}, nil
}

// fitSpans collects the attributes of the gold constituents, and makes those of all spans.
func fitSpans(t *arcs.Template, train *structured.Dataset, o templates.Options) (*Spans, error) {
	in, err := countSpans(t.ForColumns(inputColumns), train, o)
	if err != nil {
		return nil, err
	}
	return in, in.Apply(train, o.Threads)
}

// countSpans makes the dictionary of the attributes of the gold constituents. A word has one head in the data of a
// dictionary, so that a sentence is there as often as constituents begin with the same word.
func countSpans(t *arcs.Template, train *structured.Dataset, o templates.Options) (*Spans, error) {
	from := arcColumns(train)
	to := arcs.Columns{Name: from.Name, Names: from.Names, Cells: make([][]string, len(from.Cells))}
	offsets, heads := []int{0}, []int32{}
	for i := range train.Len() {
		n, y := train.Length(i), train.Gold(i)
		for round, more := 0, true; more; round++ {
			more = false
			for first := range n {
				head, found := first, 0
				for last := n - 1; last >= first; last-- {
					if y[first*n+last] == 0 {
						continue
					}
					if found == round {
						head = last
					}
					found++
				}
				more = more || found > round+1
				heads = append(heads, int32(head))
			}
			for c, cells := range from.Cells {
				to.Cells[c] = append(to.Cells[c], cells[train.Offsets[i]:train.Offsets[i+1]]...)
			}
			offsets = append(offsets, len(heads))
		}
	}
	dictionary, err := t.Fit(to, offsets, heads, o)
	return &Spans{Arcs{Template: t, Dictionary: dictionary}}, err
}

// Apply makes the attributes of all spans of a data set.
func (in *Spans) Apply(d *structured.Dataset, threads int) error {
	return in.apply(rowsOfSpans, d, threads)
}

func (in *Spans) Extractor() func(d *structured.Dataset) error { return in.extractor(rowsOfSpans) }

func (in *Spans) Missing(d *structured.Dataset) string {
	if t := d.Table(constituents.SpanRows); t == nil || t.Attributes == nil || !brackets.Is(d) {
		return "attributes of spans"
	}
	return ""
}

// Network implements Maker. Dense features of the first and of the last word have weights as those of arcs have.
func (in *Spans) Network(form structured.Form, dim int) (nets.Network, error) {
	dense := func(part string) []sparse.Dense {
		if dim == 0 {
			return nil
		}
		return []sparse.Dense{{Weights: part + "_of_first", Dim: dim, Of: sparse.OfDependent},
			{Weights: part + "_of_last", Dim: dim, Of: sparse.OfHead}}
	}
	return sparse.New(form, []sparse.Part{
		{Attributes: in.Dictionary.Arc.Len(), Weights: "span_attributes", Dense: dense("span")},
		{Attributes: in.Dictionary.Label.Len(), Weights: "label_attributes", Dense: dense("label")},
	}), nil
}

// extend extends the dictionary by the attributes of more data.
func (in *Spans) extend(c *config.Config, train *structured.Dataset) (Maker, error) {
	if in.Dictionary.Arc.HashBits() > 0 {
		return in, in.Apply(train, c.Threads)
	}
	fitted, err := countSpans(in.Template, train, pairOptions(c))
	if err != nil {
		return nil, err
	}
	joined, err := in.joined(&fitted.Arcs)
	if err != nil {
		return nil, err
	}
	to := &Spans{*joined}
	return to, to.Apply(train, c.Threads)
}

// LoadSpans is LoadArcs for the attributes of spans.
func LoadSpans(f *safetensors.File, template string, hashBits int) (own Maker, tensors int, err error) {
	if own, tensors, err = LoadArcs(f, template, hashBits); own != nil {
		own = &Spans{*own.(*Arcs)}
	}
	return own, tensors, err
}
