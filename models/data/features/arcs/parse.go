package arcs

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dsp-go/dsp/models/data/features"
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

// Parse parses a template; name is the file's name for messages. Errors are bad input, with file:line:column.
func Parse(text, name string) (*Template, error) {
	t := &Template{name: name}
	first := map[string]int{} // line where a text first feeds a score
	arcs := 0
	text = strings.TrimSuffix(strings.TrimPrefix(text, "\ufeff"), "\n")
	for i, content := range strings.Split(text, "\n") {
		p := parser{name: name, number: i + 1, text: strings.TrimRight(content, " \t\r\v\f")}
		l, err := p.line()
		if err != nil {
			return nil, err
		}
		for _, kind := range l.scores() {
			if before, ok := first[kind+l.text()]; ok {
				return nil, p.bad(0, "the attribute repeats line %d for the score %s, expected each attribute once per score", before, kind)
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
type parser struct {
	name   string
	number int
	text   string
	at     int // bytes read so far
}

// bad returns a BadInput error about the text that starts at byte at.
func (p *parser) bad(at int, format string, args ...any) error {
	place := []any{p.name, p.number, utf8.RuneCountInString(p.text[:at]) + 1}
	return structured.BadInput("%s:%d:%d: "+format, append(place, args...)...)
}

func (p *parser) line() (line, error) {
	l := line{number: p.number}
	if p.text == "" || p.text[0] == '#' {
		l.literals = []string{p.text}
		return l, nil
	}
	kind, text, _ := strings.Cut(p.text, " ")
	switch strings.TrimSuffix(kind, "*") {
	case "A":
		l.arc = true
	case "L":
		l.label = true
	case "AL":
		l.arc, l.label = true, true
	default:
		return l, p.bad(0, "a line that begins with %q, expected A, L, AL, A*, L*, AL* and a blank, or #", kind)
	}
	l.starred = strings.HasSuffix(kind, "*")
	if text = strings.TrimLeft(text, " \t"); text == "" {
		return l, p.bad(len(kind), "%s without an attribute, expected text with macros, like hp=%%x[h,upos]", kind)
	}
	p.at = len(p.text) - len(text)
	return l, p.macros(&l)
}

// macros parses the text of a line into literals and macros.
func (p *parser) macros(l *line) error {
	var literal strings.Builder
	spread := false // some macro makes several attributes
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch percent := strings.IndexByte(rest, '%'); {
		case percent < 0:
			literal.WriteString(rest)
			p.at = len(p.text)
		case strings.HasPrefix(rest[percent:], "%%"):
			literal.WriteString(rest[:percent+1])
			p.at += percent + 2
		default:
			literal.WriteString(rest[:percent])
			p.at += percent
			start := p.at
			m, err := p.macro()
			if err != nil {
				return err
			}
			if m.where == between && m.aggregate == each {
				if spread {
					return p.bad(start, "a second macro with one attribute per value between, expected at most one")
				}
				spread = true
			}
			l.literals = append(l.literals, literal.String())
			l.macros = append(l.macros, m)
			literal.Reset()
		}
	}
	l.literals = append(l.literals, literal.String())
	return nil
}

// macro parses a macro, beginning at its percent sign.
func (p *parser) macro() (macro, error) {
	m := macro{where: nowhere}
	start := p.at
	p.at++
	word := p.text[p.at:]
	if end := strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }); end >= 0 {
		word = word[:end]
	}
	if word == directionMacro || word == distanceMacro {
		m.aggregate = direction
		if word == distanceMacro {
			m.aggregate = distance
		}
		if p.at += len(word); strings.HasPrefix(p.text[p.at:], "[") {
			return m, p.bad(p.at, "%%%s with a place, expected none: it is a property of the arc", word)
		}
		return m, nil
	}
	open := strings.IndexByte(p.text[p.at:], '[')
	if open < 0 {
		return m, p.bad(start, "%q without [place,column], expected a macro like %%x[h,upos], %%dir, %%dist, or %%%% for a percent sign", p.text[start:])
	}
	open += p.at
	length := strings.IndexByte(p.text[open:], ']')
	if length < 0 {
		return m, p.bad(open, "%q without ], expected [place,column]", p.text[open:])
	}
	cell := p.text[open+1 : open+length]
	place, name, ok := strings.Cut(cell, ",")
	if !ok {
		return m, p.bad(open, "%q, expected [place,column]", p.text[open:open+length+1])
	}
	if err := p.place(&m, open+1, place); err != nil {
		return m, err
	}
	at := open + len("[") + len(place) + len(",")
	m.at = utf8.RuneCountInString(p.text[:at]) + 1
	m.column.name, m.column.optional = strings.CutSuffix(name, "?")
	if m.column.name == "" || strings.TrimSpace(m.column.name) != m.column.name || strings.ContainsAny(m.column.name, ",?%[") {
		return m, p.bad(at, "column %q, expected the name of a column", name)
	}
	err := p.calls(&m, open)
	p.at = open + length + 1
	return m, err
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
		return p.bad(at, "place %q, "+expected, place, farthest)
	}
	if row := place[1:]; row != "" {
		n, err := strconv.Atoi(row)
		if err != nil || n < -farthest || n > farthest || row[0] != '+' && row[0] != '-' {
			return p.bad(at, "place %q, "+expected, place, farthest)
		}
		m.row = n
	}
	return nil
}

// calls parses the functions of a macro, up to its bracket at byte open.
func (p *parser) calls(m *macro, open int) error {
	names := strings.Split(p.text[p.at:open], ".")
	for i, name := range names {
		key, isKey := strings.CutPrefix(name, keyCall)
		value, isCount := strings.CutPrefix(name, countCall)
		switch {
		case name == setCall || isCount:
			if m.where != between {
				return p.bad(p.at, "%s of a single token, expected it with place between", name)
			}
			if i != len(names)-1 {
				return p.bad(p.at, "%s before another function, expected it last", name)
			}
			if isCount && value == "" {
				return p.bad(p.at, "%s without a value, expected one, like count:VERB", name)
			}
			m.aggregate = set
			if isCount {
				m.aggregate, m.counted = count, value
			}
		case isKey && key == "":
			return p.bad(p.at, "%s without a name, expected one, like key:Case", name)
		case isKey:
			m.calls = append(m.calls, name)
		case name != "x":
			if _, ok := features.NamedFunction(name); !ok {
				return p.bad(p.at, "function %q, expected one of %s, key:NAME, or, between, set or count:VALUE", name, features.FunctionNames())
			}
			m.calls = append(m.calls, name)
		}
		p.at += len(name) + len(".")
	}
	return nil
}
