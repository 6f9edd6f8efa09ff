package text

import (
	"slices"
	"strconv"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

// columnPart is the content of one block of a file in columns. Cells are indices into names.
type columnPart struct {
	names  []string
	cells  [][]int32 // [columns][tokens]
	ends   []int     // end of each sequence
	lines  []int     // first line of each sequence
	ids    []string  // name of each sequence, "" if it has none; or nil
	asides []aside   // in order

	remarks remarks.List
}

// An aside is text that stands before a token, or after the last one if token is the number of tokens.
type aside struct {
	token int
	lines string
}

// columnParser collects the tokens of a block. The parser of each format embeds it and calls token, skip and
// endSequence.
type columnParser struct {
	place
	tokens int
	part   *columnPart
	names  structured.Alphabet // of the current block
	aside  []byte              // lines since the last token
	id     string              // of the current or the next sequence
}

// begin starts a block of a file with the given number of columns.
func (p *columnParser) begin(columns int) {
	p.part = &columnPart{cells: make([][]int32, columns)}
	p.tokens, p.id, p.aside = 0, "", p.aside[:0]
	p.names.Reset()
}

func (p *columnParser) token(fields []string) {
	p.endAside()
	if !p.inSequence() {
		p.part.lines = append(p.part.lines, p.line)
	}
	for c, field := range fields {
		p.part.cells[c] = append(p.part.cells[c], p.names.Add(field))
	}
	p.tokens++
}

// skip adds a line that is not a token.
func (p *columnParser) skip(line string) { p.aside = append(append(p.aside, line...), '\n') }

func (p *columnParser) endAside() {
	if len(p.aside) == 0 {
		return
	}
	lines := "\n"
	if len(p.aside) > 1 {
		lines = string(p.aside)
	}
	p.part.asides = append(p.part.asides, aside{p.tokens, lines})
	p.aside = p.aside[:0]
}

// inSequence reports whether a sequence has begun.
func (p *columnParser) inSequence() bool { return len(p.part.lines) > len(p.part.ends) }

// endSequence ends the current sequence, if any.
func (p *columnParser) endSequence() {
	if p.inSequence() {
		p.part.ends = append(p.part.ends, p.tokens)
		if p.id != "" {
			for len(p.part.ids) < len(p.part.ends)-1 {
				p.part.ids = append(p.part.ids, "")
			}
			p.part.ids = append(p.part.ids, p.id)
		}
	}
	p.id = ""
}

// end ends the block and returns its content.
func (p *columnParser) end() *columnPart {
	p.endSequence()
	p.endAside()
	p.part.names = slices.Clone(p.names.Names())
	return p.part
}

// columnJoin joins the parts of a file into one data set.
type columnJoin struct {
	d        *structured.Dataset
	interned structured.Alphabet // one copy of every distinct string
	aside    aside               // lines that the next part may continue
}

func newColumnJoin(name string, columns []string, layout *structured.Layout) *columnJoin {
	return &columnJoin{d: &structured.Dataset{
		Name: name, Offsets: []int{0}, Columns: make([][]string, len(columns)), ColumnNames: columns, Layout: layout,
	}}
}

// add appends a part.
func (j *columnJoin) add(p *columnPart) error {
	d := j.d
	sequences, positions := d.Len(), d.Positions()
	names := make([]string, len(p.names))
	for k, name := range p.names {
		names[k] = j.interned.Name(j.interned.Intern(name))
	}
	for c, cells := range p.cells {
		d.Columns[c] = slices.Grow(d.Columns[c], len(cells))
		for _, k := range cells {
			d.Columns[c] = append(d.Columns[c], names[k])
		}
	}
	for _, end := range p.ends {
		d.Offsets = append(d.Offsets, positions+end)
	}
	d.Lines = append(d.Lines, p.lines...)
	for i, id := range p.ids {
		for len(d.IDs) < sequences+i {
			d.IDs = append(d.IDs, strconv.Itoa(len(d.IDs)))
		}
		if id != "" {
			d.IDs = append(d.IDs, id)
		}
	}
	for _, a := range p.asides {
		if a.token += positions; a.token != j.aside.token {
			j.endAside()
			j.aside = aside{token: a.token}
		}
		j.aside.lines += a.lines
	}
	return nil
}

// endAside records lines that differ from the default layout.
func (j *columnJoin) endAside() {
	t, lines := j.aside.token, j.aside.lines
	if _, first := slices.BinarySearch(j.d.Offsets, t); lines != j.d.LinesBefore(t, first) {
		j.d.Layout.Set(t, lines)
	}
}

// finish returns the data set. Unless unlabeled, its labels are those of LabelColumn, and must be in alphabet if that
// is not nil.
func (j *columnJoin) finish(alphabet *structured.Alphabet, unlabeled bool) *structured.Dataset {
	d := j.d
	j.endAside()
	if end := d.Positions(); j.aside.token < end {
		d.Layout.Set(end, "")
	}
	for i := len(d.IDs); d.IDs != nil && i < d.Len(); i++ {
		d.IDs = append(d.IDs, strconv.Itoa(i))
	}
	d.Alphabet = alphabet
	if !unlabeled {
		NumberLabels(d, alphabet)
	}
	return d
}

// NumberLabels gives d the labels in its LabelColumn, numbered by alphabet; nil numbers those of the column in their
// order. A label that alphabet lacks is −1.
func NumberLabels(d *structured.Dataset, alphabet *structured.Alphabet) {
	column := d.Column(LabelColumn)
	if d.Alphabet = alphabet; alphabet == nil {
		var labels structured.Alphabet
		for _, label := range column {
			labels.Add(label)
		}
		d.Alphabet = structured.NewAlphabet(slices.Sorted(slices.Values(labels.Names()))...)
	}
	d.Labels = make([]int32, len(column))
	for t, label := range column {
		d.Labels[t] = d.Alphabet.Index(label)
	}
}

// eachColumns calls each with the sequences of a block, unless there are none.
func eachColumns(p *columnPart, name string, columns []string, layout *structured.Layout, unlabeled bool,
	each func(d *structured.Dataset) error) error {
	if len(p.ends) == 0 {
		return nil
	}
	own := structured.Layout{Separator: layout.Separator, Filler: layout.Filler}
	j := newColumnJoin(name, columns, &own)
	if err := j.add(p); err != nil {
		return err
	}
	return each(j.finish(nil, unlabeled))
}
