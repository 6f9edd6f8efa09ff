package arcs

import (
	"slices"
	"strings"
)

// Named is an attribute of an arc with its number. Its name is the line of the template with its macros replaced by their
// values, and with direction and distance after a slash if the line is starred: "hp,dp=VERB,NOUN/right2".
type Named struct {
	Number int32
	Name   string
}

// Names returns the attributes of the arc from head h to dependent d of the sentence of tokens lo to hi-1. Both count from lo;
// h = d means the arc from the root.
func (e *Extractor) Names(lo, hi, d, h int) (arc, label []Named) {
	e.sentence.load(e.m, lo, hi)
	all := func(to *[]Named) func(Named) bool {
		return func(a Named) bool {
			*to = append(*to, a)
			return true
		}
	}
	e.names(&e.m.arc, e.numbers.Arc, lo, hi, d, h, nil, all(&arc))
	e.names(&e.m.label, e.numbers.Label, lo, hi, d, h, nil, all(&label))
	return arc, label
}

// NamesOf returns the names of attributes, given by number, for the scores of arcs and of labels. Dictionaries keep hashes, not
// names, so it searches the gold arcs of the data, which it takes as Fit does. An attribute that occurs on none of them has the
// name "". Of several attributes with the same number it returns the first.
func (e *Extractor) NamesOf(offsets []int, heads, arc, label []int32) (arcNames, labelNames []string, err error) {
	if err := checkHeads(offsets, heads); err != nil {
		return nil, nil, err
	}
	names := func(p *program, numbers *Numbers, wanted []int32) []string {
		found := make(map[int32]string, len(wanted))
		for _, number := range wanted {
			found[number] = ""
		}
		missing := len(found)
		unknown := func(number int32) bool {
			name, ok := found[number]
			return ok && name == ""
		}
		record := func(a Named) bool {
			if unknown(a.Number) {
				found[a.Number] = a.Name
				missing--
			}
			return missing > 0
		}
		for i := 0; i < len(offsets)-1 && missing > 0; i++ {
			lo, hi := offsets[i], offsets[i+1]
			e.sentence.load(e.m, lo, hi)
			for d := 0; d < hi-lo && missing > 0; d++ {
				e.names(p, numbers, lo, hi, d, int(heads[lo+d]), unknown, record)
			}
		}
		inOrder := make([]string, len(wanted))
		for k, number := range wanted {
			inOrder[k] = found[number]
		}
		return inOrder
	}
	return names(&e.m.arc, e.numbers.Arc, arc), names(&e.m.label, e.numbers.Label, label), nil
}

// names calls yield for the attributes of an arc of the loaded sentence, until yield returns false. wanted selects attributes
// by number, and saves work; nil selects all.
func (e *Extractor) names(p *program, numbers *Numbers, lo, hi, d, h int, wanted func(number int32) bool, yield func(Named) bool) {
	if h == d {
		h = -1
	}
	for _, codes := range p.codes() {
		for i := range codes {
			var found []int32
			any := wanted == nil
			codes[i].hashes(e.m, &e.sentence, d, h, func(hash uint64) {
				number := numbers.find(hash)
				found = append(found, number)
				any = any || wanted(number)
			})
			if !any {
				continue
			}
			for k, name := range e.m.spell(&codes[i], lo, hi, d, h) {
				if found[k] != none && !yield(Named{found[k], name}) {
					return
				}
			}
		}
	}
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

// spellings returns the values of a macro: none, one, or one per distinct value between head and dependent.
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
