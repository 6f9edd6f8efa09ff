package arcs

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/data/features/templates"
)

// machine is a compiled template: the views of cells that it needs, and the programs that compute attributes from them.
type machine struct {
	template *Template
	columns  []*cells
	views    []view
	gaps     []gapView
	pad      int // how far macros reach beyond a sentence, in tokens; at least 1 for the root
	arc      program
	label    program
}

// view is a function of the cells of a column.
type view struct {
	column int
	calls  string // joined by dots
}

// gapView describes what a program needs to know of a view's values between head and dependent.
type gapView struct {
	view    int
	spread  bool     // needs the distinct values, or their set
	counted []uint64 // values whose occurrences are counted
}

// program is the code of one score. It hashes an attribute in three steps: the values at the head, the values at the
// dependent, and the properties of the arc: direction, distance and the tokens between.
type program struct {
	heads, dependents []code // lines that look at one side only
	pairs             []code // lines that look at both sides only, or at their neighbours; starred ones first
	starred           int    // number of starred pairs
	mixed             []code // all other lines
}

// code is a compiled line of a template.
type code struct {
	line          templates.Line
	seed          [2]uint64 // initial hashes of head and dependent
	head          []tap
	dependent     []tap
	properties    []property // in the order of the line
	spread        int        // the gap view whose distinct values make one attribute each, or none
	starred       bool
	viewsOfMacros []int // for spelling: the view of each macro, none for direction and distance
}

// tap is a view, read row tokens away from head or dependent.
type tap struct{ view, row int }

type property struct {
	aggregate aggregate
	gap       int // for set and count: the gap view
	counted   int // for count: the index of the counted value
}

// aggregate says how a macro summarises the tokens between head and dependent, or which property of the arc it is.
type aggregate byte

const (
	set   aggregate = iota // the set of values between
	count                  // how many tokens between have a given value
	direction
	distance
)

// compile compiles a template. The machine's tables fill up while it runs, so it serves one goroutine.
func (t *Template) compile() *machine {
	m := &machine{template: t, pad: 1}
	for _, l := range t.Lines {
		if l.Kind == "" {
			continue
		}
		c := m.code(l)
		if strings.Contains(l.Kind, "A") {
			m.arc.add(c)
		}
		if strings.Contains(l.Kind, "L") {
			m.label.add(c)
		}
	}
	m.arc.sort()
	m.label.sort()
	return m
}

func (m *machine) code(l templates.Line) code {
	text := l.Text()
	c := code{line: l, spread: none, starred: strings.HasSuffix(l.Kind, star),
		seed: [2]uint64{textHash("h " + text), textHash("d " + text)}}
	for _, macro := range l.Macros {
		v, row := none, macro.Place.Row
		if !macro.Property {
			v = m.view(macro)
		}
		c.viewsOfMacros = append(c.viewsOfMacros, v)
		switch {
		case macro.Property && macro.Place.Of == directionOf:
			c.properties = append(c.properties, property{aggregate: direction})
		case macro.Property:
			c.properties = append(c.properties, property{aggregate: distance})
		case macro.Place.Of == atHead:
			c.head = append(c.head, tap{v, row})
		case macro.Place.Of == atDependent:
			c.dependent = append(c.dependent, tap{v, row})
		default:
			if gap, p := m.gap(v, macro); spreads(macro) {
				c.spread = gap
			} else {
				c.properties = append(c.properties, p)
			}
		}
		m.pad = max(m.pad, row, 1-row) // the root is one token before the first
	}
	return c
}

// view returns the number of the view of a macro, and creates it if it is new.
func (m *machine) view(macro templates.Macro) int {
	column := slices.IndexFunc(m.columns, func(c *cells) bool { return c.name == macro.Column.Name })
	if column < 0 {
		column = len(m.columns)
		m.columns = append(m.columns, &cells{name: macro.Column.Name})
	}
	functions, _ := ofCells(macro)
	v := view{column, strings.Join(functions, ".")}
	number := slices.Index(m.views, v)
	if number < 0 {
		number = len(m.views)
		m.views = append(m.views, v)
		c := m.columns[column]
		c.views = append(c.views, number)
		c.functions = append(c.functions, newFunction(functions, macro.Column.Name))
	}
	return number
}

// gap returns the number of a macro's gap view, and the property that the macro is of it if it does not spread.
func (m *machine) gap(v int, macro templates.Macro) (gap int, p property) {
	gap = slices.IndexFunc(m.gaps, func(g gapView) bool { return g.view == v })
	if gap < 0 {
		gap = len(m.gaps)
		m.gaps = append(m.gaps, gapView{view: v})
	}
	g := &m.gaps[gap]
	_, aggregate := ofCells(macro)
	text, isCount := strings.CutPrefix(aggregate, countCall)
	if !isCount {
		g.spread = true
		return gap, property{aggregate: set, gap: gap}
	}
	value := textHash(text)
	counted := slices.Index(g.counted, value)
	if counted < 0 {
		counted = len(g.counted)
		g.counted = append(g.counted, value)
	}
	return gap, property{count, gap, counted}
}

func (p *program) add(c code) {
	local := c.spread == none && !slices.ContainsFunc(c.properties, func(p property) bool {
		return p.aggregate == set || p.aggregate == count
	})
	switch {
	case local && len(c.head) == 0:
		p.dependents = append(p.dependents, c)
	case local && len(c.dependent) == 0:
		p.heads = append(p.heads, c)
	case local && len(c.properties) == 0:
		p.pairs = append(p.pairs, c)
	default:
		p.mixed = append(p.mixed, c)
	}
}

// sort moves starred pairs to the front.
func (p *program) sort() {
	slices.SortStableFunc(p.pairs, func(a, b code) int {
		switch {
		case a.starred == b.starred:
			return 0
		case a.starred:
			return -1
		}
		return 1
	})
	p.starred = 0
	for _, c := range p.pairs {
		if c.starred {
			p.starred++
		}
	}
}

// codes returns all codes, by their lists.
func (p *program) codes() [4][]code { return [...][]code{p.dependents, p.heads, p.pairs, p.mixed} }

// function composes the functions of a macro.
type function struct {
	steps []func(string) (string, bool)
	total bool // it leaves the marks beyond the ends unchanged
	bare  bool // a cell _ has no value
}

// wordColumn is the column in which _ is an ordinary word.
const wordColumn = "word"

func newFunction(names []string, column string) function {
	f := function{total: true, bare: column != wordColumn}
	for _, name := range names {
		if key, ok := strings.CutPrefix(name, keyCall); ok {
			f.steps = append(f.steps, func(cell string) (string, bool) { return valueOf(cell, key) })
			f.total = false
			continue
		}
		named, ok := features.NamedFunction(name)
		if !ok {
			panic("a function that Parse rejects")
		}
		f.steps = append(f.steps, named.Apply)
		f.total = f.total && named.Total()
	}
	return f
}

// apply returns the value of the function for a cell; ok is false if it has none.
func (f function) apply(cell string) (value string, ok bool) {
	if f.bare && cell == "_" {
		return "", false
	}
	for _, step := range f.steps {
		if cell, ok = step(cell); !ok {
			return "", false
		}
	}
	return cell, true
}

// valueOf returns the value of a key in a list "key=value|key=value".
func valueOf(list, key string) (string, bool) {
	for item := range strings.SplitSeq(list, "|") {
		if value, ok := strings.CutPrefix(item, key); ok && len(value) > 1 && value[0] == '=' {
			return value[1:], true
		}
	}
	return "", false
}
