package inputs

import (
	"cmp"
	"os"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/brackets"
	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/machine/host"
	"github.com/dsp-go/dsp/structured/machine/safetensors"
)

// Spans is the Maker of the attributes of spans of words: those of arcs, from the last word of a span to the first. The spans of a tree of
// constituents have the rows that arcs have, and a row whose last word is before the first has no attributes.
type Spans struct{ Arcs }

// SpanWords are the columns of sentences that become discrete inputs of networks for constituents.
var SpanWords = []string{"word", "upos"}

// FitConstituents is Fit for trees of constituents.
func FitConstituents(c *config.Config, train *structured.Dataset) (Inputs, error) {
	linear := c.Preset().Linear || c.Net == "auto" && c.Features != "none"
	switch {
	case !linear && c.Template != "":
		return Inputs{}, structured.BadInput("--template %s makes attributes of spans, which --net %s does not read; use --net linear", c.Template, c.Net)
	case linear && c.Features == "none":
		return Inputs{}, structured.BadInput("--net linear reads attributes of spans, but --features none makes none; leave it out, or use --net biaffine")
	case !linear:
		in := Inputs{Features: "none", Words: SpanWords}
		if err := in.fitWords(c, train); err != nil {
			return Inputs{}, err
		}
		return in, in.encode(train)
	}
	text, name := arcs.BuiltinSpans(), "spans"+templateSuffix
	if c.Template != "" {
		content, err := os.ReadFile(c.Template)
		if err != nil {
			return Inputs{}, structured.BadInput("--template: %w", err)
		}
		text, name = string(content), c.Template
	}
	t, err := arcs.Parse(text, name)
	if err != nil {
		return Inputs{}, err
	}
	o := arcs.Options{HashBits: c.HashBits, Threads: host.Threads(c.Threads)}
	if c.HashBits == 0 {
		o.MinCount = cmp.Or(c.MinCount, defaultArcCount)
	}
	in, err := fitSpans(t, train, o)
	if err != nil {
		return Inputs{}, err
	}
	return Inputs{Features: "auto", Words: SpanWords, Own: in}, nil
}

// fitSpans collects the attributes of the gold constituents, and makes those of all spans.
func fitSpans(t *arcs.Template, train *structured.Dataset, o arcs.Options) (*Spans, error) {
	in, err := countSpans(t.ForColumns(inputColumns), train, o)
	if err != nil {
		return nil, err
	}
	return in, in.Apply(train, o.Threads)
}

// countSpans makes the dictionary of the attributes of the gold constituents. A word has one head in the data of a dictionary, so that a sentence is
// there as often as constituents begin with the same word.
func countSpans(t *arcs.Template, train *structured.Dataset, o arcs.Options) (*Spans, error) {
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
	return &Spans{Arcs{t, dictionary}}, err
}

// Apply makes the attributes of all spans of a data set.
func (in *Spans) Apply(d *structured.Dataset, threads int) error {
	blocks := Batches(d)
	span, label := make([]*structured.Sparse, len(blocks)), make([]*structured.Sparse, len(blocks))
	err := host.Parallel(threads, len(blocks), func() *arcs.Extractor { return arcs.NewExtractor(in.Template, in.Dictionary) },
		func(e *arcs.Extractor, k int) (err error) {
			span[k], label[k], err = extractSpans(e, d, blocks[k])
			return err
		})
	if err != nil {
		return err
	}
	d.Table(constituents.SpanRows).Attributes = structured.JoinSparse(span)
	d.Table(constituents.LabelRows).Attributes = structured.JoinSparse(label)
	return nil
}

// Extractor implements Maker.
func (in *Spans) Extractor() func(d *structured.Dataset) error {
	e := arcs.NewExtractor(in.Template, in.Dictionary)
	return func(d *structured.Dataset) error {
		examples := make([]int, d.Len())
		for i := range examples {
			examples[i] = i
		}
		var err error
		d.Table(constituents.SpanRows).Attributes, d.Table(constituents.LabelRows).Attributes, err = extractSpans(e, d, examples)
		return err
	}
}

// Missing implements Maker.
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
		return []sparse.Dense{{Weights: part + "_of_first", Dim: dim, Of: sparse.OfDependent}, {Weights: part + "_of_last", Dim: dim, Of: sparse.OfHead}}
	}
	return sparse.New(form, []sparse.Part{
		{Attributes: in.Dictionary.Arc.Len(), Weights: "span_attributes", Dense: dense("span")},
		{Attributes: in.Dictionary.Label.Len(), Weights: "label_attributes", Dense: dense("label")},
	}), nil
}

// extractSpans makes the attributes of the spans of some sentences, for their scores and for those of their labels.
func extractSpans(e *arcs.Extractor, d *structured.Dataset, examples []int) (span, label *structured.Sparse, err error) {
	if err := e.Open(arcColumns(d)); err != nil {
		return nil, nil, err
	}
	span, label = &structured.Sparse{Offsets: []int{0}}, &structured.Sparse{Offsets: []int{0}}
	var spanRows, labelRows arcs.Rows
	for _, i := range examples {
		if err := e.Extract(d.Offsets[i], d.Offsets[i+1], &spanRows, &labelRows); err != nil {
			return nil, nil, err
		}
		appendSpans(span, &spanRows, d.Length(i))
		appendSpans(label, &labelRows, d.Length(i))
	}
	return span, label, nil
}

// appendSpans appends the rows of n words, without attributes where the last word is before the first.
func appendSpans(to *structured.Sparse, rows *arcs.Rows, n int) {
	for row := range n * n {
		if row/n <= row%n {
			to.Index = append(to.Index, rows.Index[rows.Offsets[row]:rows.Offsets[row+1]]...)
		}
		to.Offsets = append(to.Offsets, len(to.Index))
	}
}

// extend extends the dictionary by the attributes of more data.
func (in *Spans) extend(c *config.Config, train *structured.Dataset) (Maker, error) {
	if in.Dictionary.Arc.HashBits() > 0 {
		return in, in.Apply(train, c.Threads)
	}
	fitted, err := countSpans(in.Template, train, arcs.Options{MinCount: cmp.Or(c.MinCount, defaultArcCount), Threads: host.Threads(c.Threads)})
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
