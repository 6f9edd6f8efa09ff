package arcs

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// Rows are the attributes of the arcs of a sentence of n tokens: row d·n+h is the arc from head h to dependent d, and
// row d·n+d the arc from the root to d. Row r owns entries Offsets[r] to Offsets[r+1]-1.
type Rows struct {
	Offsets []int   // [n·n+1]
	Index   []int32 // attribute numbers
}

// Dictionary numbers the attributes for the scores of arcs and of labels.
type Dictionary struct{ Arc, Label *Numbers }

// Extractor makes attributes of arcs as a template describes, numbered by a dictionary. It caches cells in bounded
// memory, and serves one goroutine at a time; several extractors may share a template and a dictionary.
type Extractor struct {
	m        *machine
	numbers  *Dictionary
	sentence sentence
	arc      scratch
	label    scratch
}

// NewExtractor returns an extractor without data; see Open.
func NewExtractor(t *Template, numbers *Dictionary) *Extractor {
	return &Extractor{m: t.compile(), numbers: numbers}
}

// Open sets the data that Extract reads. It is bad input if the data lacks a column of the template.
func (e *Extractor) Open(data Columns) error {
	t := e.m.template
	for _, l := range t.Lines {
		for _, m := range l.Macros {
			if !m.Property && !slices.Contains(data.Names, m.Column.Name) {
				return t.missing(l, m, data)
			}
		}
	}
	for _, c := range e.m.columns {
		c.source = data.Cells[slices.Index(data.Names, c.name)]
	}
	return nil
}

// Extract makes the attributes of all arcs of the sentence of tokens lo to hi-1, for the scores of arcs and of labels.
// A nil *Rows is skipped. Attributes that the dictionary lacks are left out. Extract reuses the memory of the rows:
// once it is large enough and the cells are cached, Extract does not allocate.
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
