package arcs

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/features/templates"
)

// Named is an attribute of an arc with its number. Its name is the line of the template with its macros replaced by
// their values, and with direction and distance after a slash if the line is starred: "hp,dp=VERB,NOUN/right2".
type Named struct {
	Number int32
	Name   string
}

// Names returns the attributes of the arc from head h to dependent d of the sentence of tokens lo to hi-1. Both count
// from lo; h = d means the arc from the root.
func (e *Extractor) Names(lo, hi, d, h int) (arc, label []Named) {
	e.sentence.load(e.m, lo, hi)
	return e.names(nil, &e.m.arc, e.numbers.Arc, lo, hi, d, h), e.names(nil, &e.m.label, e.numbers.Label, lo, hi, d, h)
}

// Row returns the attributes of row r.
func (r *Rows) Row(row int) []int32 { return r.Index[r.Offsets[row]:r.Offsets[row+1]] }

// names appends the attributes of an arc of the loaded sentence to all.
func (e *Extractor) names(all []Named, p *program, numbers *Numbers, lo, hi, d, h int) []Named {
	if h == d {
		h = -1
	}
	for _, codes := range p.codes() {
		for i := range codes {
			var found []int32
			codes[i].hashes(e.m, &e.sentence, d, h, func(hash uint64) { found = append(found, numbers.find(hash)) })
			for k, name := range e.m.spell(&codes[i], lo, hi, d, h) {
				if found[k] != none {
					all = append(all, Named{found[k], name})
				}
			}
		}
	}
	return all
}

// spell returns the names of the attributes that a line makes of an arc, in the order of their hashes.
func (m *machine) spell(c *code, lo, hi, d, h int) []string {
	names := []string{c.line.Literals[0]}
	for k, macro := range c.line.Macros {
		values := m.spellings(macro, c.viewsOfMacros[k], lo, hi, d, h)
		var next []string
		for _, name := range names {
			for _, value := range values {
				next = append(next, name+value+c.line.Literals[k+1])
			}
		}
		names = next
	}
	if !c.starred {
		return names
	}
	var both []string
	for _, name := range names {
		both = append(both, name, name+"/"+binName(bin(d, h)))
	}
	return both
}

// spellings returns the values of a macro: none, one, or one per distinct value between head and dependent.
func (m *machine) spellings(macro templates.Macro, v, lo, hi, d, h int) []string {
	switch macro.Place.Of {
	case "dir":
		return []string{directionName(bin(d, h))}
	case "dist":
		return []string{distanceName(bin(d, h) >> 1)}
	case "h":
		return m.spelling(v, lo, hi, h+macro.Place.Row)
	case "d":
		return m.spelling(v, lo, hi, d+macro.Place.Row)
	}
	var all, distinct []string
	for t := min(d, h) + 1; t < max(d, h); t++ {
		for _, value := range m.spelling(v, lo, hi, t) {
			all = append(all, value)
			if !slices.Contains(distinct, value) {
				distinct = append(distinct, value)
			}
		}
	}
	_, aggregate := ofCells(macro)
	counted, isCount := strings.CutPrefix(aggregate, "count:")
	switch {
	case aggregate == "set":
		slices.Sort(distinct)
		return []string{strings.Join(distinct, "+")}
	case !isCount:
		return distinct
	}
	n := 0
	for _, value := range all {
		if value == counted {
			n++
		}
	}
	return []string{countName(n)}
}

// spelling returns the value of a view at a token of a sentence, if it has one.
func (m *machine) spelling(v, lo, hi, t int) []string {
	column := m.columns[m.views[v].column]
	f := column.functions[slices.Index(column.views, v)]
	if t < 0 || t >= hi-lo {
		if f.total {
			return []string{mark(t, hi-lo)}
		}
		return nil
	}
	if value, ok := f.apply(column.source[lo+t]); ok {
		return []string{value}
	}
	return nil
}
