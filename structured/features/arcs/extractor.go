package arcs

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// Rows are the attributes of the arcs of a sentence of n tokens: that from head h to dependent d is row d·n+h, and d·n+d is
// that from the root to d. Row r owns entries Offsets[r] to Offsets[r+1]-1.
type Rows struct {
	Offsets []int   // [n·n+1]
	Index   []int32 // numbers of attributes
}

// Row returns the attributes of row r.
func (r *Rows) Row(row int) []int32 { return r.Index[r.Offsets[row]:r.Offsets[row+1]] }

// Dictionary numbers the attributes of the scores of arcs and of labels.
type Dictionary struct{ Arc, Label *Numbers }

// Extractor makes attributes of arcs as a template says, numbered by a dictionary. It remembers the cells that it has met,
// in bounded memory, and serves one goroutine at a time; many extractors may share template and dictionary.
type Extractor struct {
	m        *machine
	numbers  *Dictionary
	sentence sentence
	arc      scratch
	label    scratch
}

// NewExtractor returns an extractor that has no data yet.
func NewExtractor(t *Template, numbers *Dictionary) *Extractor {
	return &Extractor{m: t.compile(), numbers: numbers}
}

// Open takes the data that Extract looks at from now on. That it lacks a column of the template is bad input.
func (e *Extractor) Open(data Columns) error {
	t := e.m.template
	for _, l := range t.lines {
		for _, m := range l.macros {
			if m.where != nowhere && !slices.Contains(data.Names, m.column.name) {
				return t.missing(l, m, data)
			}
		}
	}
	for _, c := range e.m.columns {
		c.source = data.Cells[slices.Index(data.Names, c.name)]
	}
	return nil
}

// Extract makes the attributes of all arcs of the sentence of tokens lo to hi-1, for the scores of arcs and of labels; rows
// that are nil are not made. Attributes that the dictionary lacks are left out. Rows are reused: once they are large enough,
// and the cells are known, nothing is allocated.
func (e *Extractor) Extract(lo, hi int, arc, label *Rows) error {
	if lo < 0 || hi < lo || len(e.m.columns) > 0 && hi > len(e.m.columns[0].source) {
		return structured.BadInput("attributes of arcs of tokens %d to %d, which the data does not have", lo, hi-1)
	}
	e.sentence.load(e.m, lo, hi)
	if arc != nil {
		e.arc.rows(e.m, &e.m.arc, &e.sentence, e.numbers.Arc, arc)
	}
	if label != nil {
		e.label.rows(e.m, &e.m.label, &e.sentence, e.numbers.Label, label)
	}
	return nil
}
