package arcs

import (
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

// The names of the language besides the functions of a cell.
const (
	directionMacro = "dir"
	distanceMacro  = "dist"
	betweenPlace   = "between"
	setCall        = "set"
	countCall      = "count:"
	keyCall        = "key:"
)

const farthest = 100 // tokens from head or dependent

// language is that of templates of arcs, for messages.
var language = templates.Language{
	Cell:   "[place,column]",
	Macros: "%x[h,upos], %dir, %dist",
	Column: "the name of a column",
}

// Parse parses a template; name is the file's name for messages. Errors are bad input, with file:line:column.
func Parse(text, name string) (*Template, error) {
	t := &Template{name: name}
	first := map[string]int{} // line where a text first feeds a score
	arcs := 0
	for content := range templates.Lines(text, name) {
		p := parser{content}
		l, err := p.line()
		if err != nil {
			return nil, err
		}
		for _, kind := range l.scores() {
			if before, ok := first[kind+l.text()]; ok {
				return nil, p.Bad(0, "the attribute repeats line %d for the score %s, expected each attribute once per score", before, kind)
			}
			first[kind+l.text()] = l.number
		}
		if l.arc {
			arcs++
		}
		t.lines = append(t.lines, l)
	}
	if arcs == 0 {
		return nil, structured.BadInput("%s: no attributes for the score of an arc, expected lines that begin with A or AL, like A %%x[h,upos],%%x[d,upos]", name)
	}
	return t, nil
}

// parser parses one line.
type parser struct{ *templates.Line }

func (p *parser) line() (line, error) {
	l := line{number: p.Number}
	if p.Comment() {
		l.literals = []string{p.Text}
		return l, nil
	}
	kind, text, _ := strings.Cut(p.Text, " ")
	switch strings.TrimSuffix(kind, "*") {
	case "A":
		l.arc = true
	case "L":
		l.label = true
	case "AL":
		l.arc, l.label = true, true
	default:
		return l, p.Bad(0, "a line that begins with %q, expected A, L, AL, A*, L*, AL* and a blank, or #", kind)
	}
	l.starred = strings.HasSuffix(kind, "*")
	if text = strings.TrimLeft(text, " \t"); text == "" {
		return l, p.Bad(len(kind), "%s without an attribute, expected text with macros, like hp=%%x[h,upos]", kind)
	}
	p.At = len(p.Text) - len(text)
	var err error
	spread := false // some macro makes several attributes
	l.literals, err = p.Literals(func() error {
		start := p.At - len("%")
		m, err := p.macro()
		if err != nil {
			return err
		}
		if m.where == between && m.aggregate == each {
			if spread {
				return p.Bad(start, "a second macro with one attribute per value between, expected at most one")
			}
			spread = true
		}
		l.macros = append(l.macros, m)
		return nil
	})
	return l, err
}

// macro parses a macro, whose percent sign is read.
func (p *parser) macro() (macro, error) {
	m := macro{where: nowhere}
	word := p.Text[p.At:]
	if end := strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }); end >= 0 {
		word = word[:end]
	}
	if word == directionMacro || word == distanceMacro {
		m.aggregate = direction
		if word == distanceMacro {
			m.aggregate = distance
		}
		if p.At += len(word); strings.HasPrefix(p.Text[p.At:], "[") {
			return m, p.Bad(p.At, "%%%s with a place, expected none: it is a property of the arc", word)
		}
		return m, nil
	}
	open, err := language.Open(p.Line)
	if err != nil {
		return m, err
	}
	from := p.At
	place, name, err := language.Read(p.Line, open)
	if err != nil {
		return m, err
	}
	if err := p.place(&m, open+1, place); err != nil {
		return m, err
	}
	if m.column, m.at, err = language.Named(p.Line, open, place, name); err != nil {
		return m, err
	}
	return m, p.calls(&m, from, open)
}

// place parses the place of a cell, which begins at byte at.
func (p *parser) place(m *macro, at int, place string) error {
	const expected = "expected h, d, a neighbour like h-1 or d+2 (to %d tokens away), or between"
	switch {
	case place == betweenPlace:
		m.where = between
		return nil
	case strings.HasPrefix(place, "h"):
		m.where = atHead
	case strings.HasPrefix(place, "d"):
		m.where = atDependent
	default:
		return p.Bad(at, "place %q, "+expected, place, farthest)
	}
	if row := place[1:]; row != "" {
		n, err := strconv.Atoi(row)
		if err != nil || n < -farthest || n > farthest || row[0] != '+' && row[0] != '-' {
			return p.Bad(at, "place %q, "+expected, place, farthest)
		}
		m.row = n
	}
	return nil
}

// calls parses the functions of a macro, which begin at byte at, up to its bracket at byte open.
func (p *parser) calls(m *macro, at, open int) error {
	names := strings.Split(p.Text[at:open], ".")
	for i, name := range names {
		key, isKey := strings.CutPrefix(name, keyCall)
		value, isCount := strings.CutPrefix(name, countCall)
		switch {
		case name == setCall || isCount:
			if m.where != between {
				return p.Bad(at, "%s of a single token, expected it with place between", name)
			}
			if i != len(names)-1 {
				return p.Bad(at, "%s before another function, expected it last", name)
			}
			if isCount && value == "" {
				return p.Bad(at, "%s without a value, expected one, like count:VERB", name)
			}
			m.aggregate = set
			if isCount {
				m.aggregate, m.counted = count, value
			}
		case isKey && key == "":
			return p.Bad(at, "%s without a name, expected one, like key:Case", name)
		case isKey:
			m.calls = append(m.calls, name)
		case name != "x":
			if _, ok := features.NamedFunction(name); !ok {
				return p.Bad(at, "function %q, expected one of %s, key:NAME, or, between, set or count:VALUE", name, features.FunctionNames())
			}
			m.calls = append(m.calls, name)
		}
		at += len(name) + len(".")
	}
	return nil
}
