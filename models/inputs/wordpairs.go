package inputs

import (
	"cmp"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/trees"
)

// wordPairs says which tables of a structure have rows for pairs of words, and which of these rows have attributes.
// Arcs and spans share the rest.
type wordPairs struct {
	scores, labels string // tables, for the scores of pairs and for those of their labels
	add            func(to *structured.Sparse, rows *arcs.Rows, n int)
}

var (
	rowsOfArcs  = wordPairs{trees.ArcRows, trees.LabelRows, addArcs}
	rowsOfSpans = wordPairs{constituents.SpanRows, constituents.LabelRows, addSpans}
)

// apply makes the attributes of all pairs of words of a data set.
func (in *Arcs) apply(p wordPairs, d *structured.Dataset, threads int) error {
	blocks := Batches(d)
	scores, labels := make([]*structured.Sparse, len(blocks)), make([]*structured.Sparse, len(blocks))
	err := host.Parallel(threads, len(blocks), func() *arcs.Extractor {
		return arcs.NewExtractor(in.Template, in.Dictionary)
	},
		func(e *arcs.Extractor, k int) (err error) {
			scores[k], labels[k], err = p.extract(e, d, blocks[k])
			return err
		})
	if err != nil {
		return err
	}
	d.Table(p.scores).Attributes, d.Table(p.labels).Attributes = structured.JoinSparse(scores),
		structured.JoinSparse(labels)
	return nil
}

// extractor returns a function that makes the attributes of all pairs of words of small data sets, one after the other.
func (in *Arcs) extractor(p wordPairs) func(d *structured.Dataset) error {
	e := arcs.NewExtractor(in.Template, in.Dictionary)
	return func(d *structured.Dataset) error {
		examples := make([]int, d.Len())
		for i := range examples {
			examples[i] = i
		}
		var err error
		d.Table(p.scores).Attributes, d.Table(p.labels).Attributes, err = p.extract(e, d, examples)
		return err
	}
}

// extract makes the attributes of some sentences.
func (p wordPairs) extract(e *arcs.Extractor, d *structured.Dataset,
	examples []int) (scores, labels *structured.Sparse, err error) {
	if err := e.Open(arcColumns(d)); err != nil {
		return nil, nil, err
	}
	scores, labels = &structured.Sparse{Offsets: []int{0}}, &structured.Sparse{Offsets: []int{0}}
	var scoreRows, labelRows arcs.Rows
	for _, i := range examples {
		if err := e.Extract(d.Offsets[i], d.Offsets[i+1], &scoreRows, &labelRows); err != nil {
			return nil, nil, err
		}
		p.add(scores, &scoreRows, d.Length(i))
		p.add(labels, &labelRows, d.Length(i))
	}
	return scores, labels, nil
}

// addArcs appends all rows of n words.
func addArcs(to *structured.Sparse, rows *arcs.Rows, n int) {
	from := len(to.Index)
	for _, end := range rows.Offsets[1:] {
		to.Offsets = append(to.Offsets, from+end)
	}
	to.Index = append(to.Index, rows.Index...)
}

// addSpans appends the rows of n words, without attributes where the last word is before the first.
func addSpans(to *structured.Sparse, rows *arcs.Rows, n int) {
	for row := range n * n {
		if row/n <= row%n {
			to.Index = append(to.Index, rows.Index[rows.Offsets[row]:rows.Offsets[row+1]]...)
		}
		to.Offsets = append(to.Offsets, len(to.Index))
	}
}

// defaultArcCount is the default least count, on gold arcs or spans, of an attribute with weights.
const defaultArcCount = 2

// pairTemplate parses the template of --template. Without one it takes a built-in text.
func pairTemplate(c *config.Config, builtin, name string) (*arcs.Template, error) {
	if c.Template == "" {
		return arcs.Parse(builtin, name+templateSuffix)
	}
	content, err := host.ReadText(c.Template, mostTemplate)
	if err != nil {
		return nil, structured.BadInput("--template: %w", err)
	}
	return arcs.Parse(string(content), c.Template)
}

// pairOptions says which attributes have weights. Hashed ones all have.
func pairOptions(c *config.Config) templates.Options {
	o := templates.Options{HashBits: c.HashBits, Threads: host.Threads(c.Threads)}
	if c.HashBits == 0 {
		o.MinCount = cmp.Or(c.MinCount, defaultArcCount)
	}
	return o
}

// fitColumns makes the inputs of a network that reads columns of words, and no attributes.
func fitColumns(c *config.Config, train *structured.Dataset, columns []string) (Inputs, error) {
	in := Inputs{Features: "none", Words: columns}
	if err := in.fitWords(c, Alone(train)); err != nil {
		return Inputs{}, err
	}
	return in, in.encode(train)
}
