package arcs

import (
	"slices"
	"strings"
)

// Named is an attribute of an arc: its number, and its name as the line of the template reads when its macros are replaced
// by what they stand for, with direction and distance after a slash where the line is starred: "hp,dp=VERB,NOUN/right2".
type Named struct {
	Number int32
	Name   string
}

// Names spells the attributes of the arc from head h to dependent d of the sentence of tokens lo to hi-1, both counted from
// lo; h = d is the arc from the root. Dictionaries keep hashes, not names: to name the attributes of large weights, spell
// those of gold arcs until all are found.
func (e *Extractor) Names(lo, hi, d, h int) (arc, label []Named) {
	e.sentence.load(e.m, lo, hi)
	if h == d {
		h = -1
	}
	names := func(p *program, numbers *Numbers) []Named {
		var all []Named
		for _, c := range p.codes() {
			var hashes []uint64
			c.hashes(e.m, &e.sentence, d, h, func(hash uint64) { hashes = append(hashes, hash) })
			for i, name := range e.m.spell(&c, lo, hi, d, h) {
				if number := numbers.find(hashes[i]); number != none {
					all = append(all, Named{number, name})
				}
			}
		}
		return all
	}
	return names(&e.m.arc, e.numbers.Arc), names(&e.m.label, e.numbers.Label)
}

// spell returns the names of the attributes that a line makes of an arc, in the order of their hashes.
func (m *machine) spell(c *code, lo, hi, d, h int) []string {
	names := []string{c.line.literals[0]}
	for k, macro := range c.line.macros {
		values := m.spellings(macro, c.viewsOfMacros[k], lo, hi, d, h)
		var next []string
		for _, name := range names {
			for _, value := range values {
				next = append(next, name+value+c.line.literals[k+1])
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

// spellings returns what a macro stands for: nothing, or one text, or one for each distinct value between.
func (m *machine) spellings(macro macro, v, lo, hi, d, h int) []string {
	switch macro.where {
	case nowhere:
		if macro.aggregate == direction {
			return []string{directionName(bin(d, h))}
		}
		return []string{distanceName(bin(d, h) >> 1)}
	case atHead:
		return m.spelling(v, lo, hi, h+macro.row)
	case atDependent:
		return m.spelling(v, lo, hi, d+macro.row)
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
	switch macro.aggregate {
	case each:
		return distinct
	case set:
		slices.Sort(distinct)
		return []string{strings.Join(distinct, "+")}
	}
	n := 0
	for _, value := range all {
		if value == macro.counted {
			n++
		}
	}
	return []string{countName(n)}
}

// spelling returns the value of a view at a token of a sentence, or nothing.
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
