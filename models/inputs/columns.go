package inputs

import (
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// Column is a column of text that a model may read.
type Column struct {
	Name string // as Dataset.ColumnNames has it; "" if nobody named it
	Read bool   // by the model
}

// Columns returns the columns of data without labels for a model with settings c, as the reader of its data makes them;
// width counts the columns of its training file, 0 if unknown. It returns nil for a model without columns.
func (in Inputs) Columns(c *config.Config, width int) ([]Column, error) {
	d := &structured.Dataset{}
	switch f := formats.Find(c.Format); {
	case in.readsTrees():
		return in.treeColumns(), nil
	case f.ColumnNames != nil:
		var err error
		if d.ColumnNames, err = f.ColumnNames(c.Columns, c.Label, width); err != nil {
			return nil, err
		}
	case in.Vocab != nil:
		d.ColumnNames = []string{text.WordColumn}
	}
	read := make([]bool, len(d.ColumnNames))
	if in.Template != nil {
		read = in.Template.Reads(d)
	}
	for k, name := range d.ColumnNames {
		read[k] = read[k] || in.readsWord(d, name)
	}
	var all []Column
	for k, name := range d.ColumnNames {
		all = append(all, Column{name, read[k]})
	}
	return all, nil
}

// readsTrees reports whether the inputs are made from the columns of a treebank.
func (in Inputs) readsTrees() bool {
	return ArcsOf(in.Own) != nil || slices.Equal(in.Words, TreeWords) || slices.Equal(in.Words, SpanWords)
}

// ArcsOf returns the inputs that are made of the columns of a treebank, for arcs or for spans; nil for others.
func ArcsOf(own Maker) *Arcs {
	switch in := own.(type) {
	case *Arcs:
		return in
	case *Spans:
		return &in.Arcs
	}
	return nil
}

// treeColumns returns the columns of a treebank that inputs may be made from.
func (in Inputs) treeColumns() []Column {
	own := ArcsOf(in.Own)
	arcs := own != nil
	var all []Column
	for _, name := range inputColumns {
		word := name == text.WordColumn && (in.WordRows != nil || in.Encoder != nil)
		all = append(all, Column{name, word || arcs && own.Template.ReadsColumn(name) || !arcs &&
			slices.Contains(in.Words, name)})
	}
	return all
}

// readsWord reports whether a column becomes discrete inputs.
func (in Inputs) readsWord(d *structured.Dataset, name string) bool {
	switch {
	case (in.WordRows != nil || in.Encoder != nil) && name == text.WordColumn:
		return true
	case in.Vocab == nil || name == "" || name == text.LabelColumn:
		return false
	}
	return name == text.WordColumn || !text.IsConllu(d.ColumnNames)
}
