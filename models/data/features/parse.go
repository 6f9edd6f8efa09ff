package features

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

const (
	farthest     = 100 // rows from a position
	longestAffix = 100 // letters
	rangeMark    = ".."
)

// language is that of templates of tokens, for messages.
var language = templates.Language{
	Cell:   "[row,column]",
	Macros: "%x[0,word]",
	Column: "the name of a column, or a number from 0",
}

// Parse parses a template; name is the file's name for messages. Errors are bad input, with file:line:column.
func Parse(text, name string) (*Template, error) {
	t := &Template{name: name}
	features := 0
	for content := range templates.Lines(text, name) {
		l, err := (&parser{content}).line()
		if err != nil {
			return nil, err
		}
		if l.kind != 0 {
			features++
		}
		t.lines = append(t.lines, l)
	}
	if features == 0 {
		return nil, structured.BadInput("%s: no features, expected lines that begin with U, B or S, like U00:%%x[0,word]", name)
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
	if l.kind = p.Text[0]; l.kind != 'U' && l.kind != 'B' && l.kind != 'S' {
		return l, p.Bad(0, "a line that begins with %q, expected U, B, S or #", p.Text[:firstRune(p.Text)])
	}
	var err error
	l.literals, err = p.Literals(func() error {
		m, err := p.macro(l.kind == 'S')
		l.macros = append(l.macros, m)
		return err
	})
	if err != nil {
		return l, err
	}
	return l, p.checkMacros(l)
}

// checkMacros refuses lines whose macros have several values at once in more than one way.
func (p *parser) checkMacros(l line) error {
	ranges := 0
	for _, m := range l.macros {
		if m.last != m.row {
			ranges++
		}
		for k, c := range m.calls {
			switch several := functions[c.name].several != nil; {
			case several && k < len(m.calls)-1:
				return p.Bad(0, "%s has several values, expected no function after it, found %s", c, m.calls[k+1])
			case several && len(l.macros) > 1:
				return p.Bad(0, "%s has several values, expected a line without other macros", c)
			case m.anchor == ofAll && m.column.Name == gazetteerColumn && (len(m.calls) > 1 || c.name != "x" && c.name != "each"):
				return p.Bad(0, "%s of a whole segment's types in the gazetteer, expected x or each", c)
			case several && m.anchor == ofAll && m.column.Name != gazetteerColumn:
				return p.Bad(0, "%s has several values, expected a row first or last, not all", c)
			case functions[c.name].outside && m.anchor == ofAll:
				return p.Bad(0, "%s has no value inside a segment, expected a row first or last", c)
			}
		}
	}
	if ranges > 1 {
		return p.Bad(0, "%d ranges of rows, expected at most one per line", ranges)
	}
	return nil
}

// macro parses the text after a percent sign, in a line about whole segments or in another one.
func (p *parser) macro(whole bool) (macro, error) {
	var m macro
	if rest, ok := strings.CutPrefix(p.Text[p.At:], ofLength); ok && whole && !strings.HasPrefix(rest, "[") {
		m.anchor = ofLength
		p.At += len(ofLength)
		return m, nil
	}
	open, err := language.Open(p.Line)
	if err != nil {
		return m, err
	}
	for name := range strings.SplitSeq(p.Text[p.At:open], ".") {
		c, err := p.call(name)
		if err != nil {
			return m, err
		}
		m.calls = append(m.calls, c)
		p.At += len(name) + len(".")
	}
	row, name, err := language.Read(p.Line, open)
	if err != nil {
		return m, err
	}
	ok := false
	if whole {
		if m.anchor, m.row, ok = rowsOfSegment(row); !ok {
			return m, p.Bad(open+1, "row %q, expected first or last, such as first-1 and last+2, up to %d rows away, or all, such as all..3 for segments of at most 3 positions",
				row, farthest)
		}
		m.last = m.row
	} else if m.row, m.last, ok = rowsOf(row); !ok {
		return m, p.Bad(open+1, "row %q, expected a number from %d to %d, or a range like -4..-1", row, -farthest, farthest)
	}
	m.column, m.at, err = language.Named(p.Line, open, row, name)
	return m, err
}

// rowsOf parses a row or a range of rows.
func rowsOf(text string) (first, last int, ok bool) {
	from, to, isRange := strings.Cut(text, rangeMark)
	first, err := strconv.Atoi(from)
	if last = first; isRange && err == nil {
		last, err = strconv.Atoi(to)
	}
	return first, last, err == nil && -farthest <= first && first <= last && last <= farthest
}

// rowsOfSegment parses a row of a line about whole segments: what it is relative to, and how far it is from there or,
// for all, the most positions.
func rowsOfSegment(text string) (anchor string, row int, ok bool) {
	if rest, found := strings.CutPrefix(text, ofAll); found {
		if rest == "" {
			return ofAll, 0, true
		}
		most, found := strings.CutPrefix(rest, rangeMark)
		row, err := strconv.Atoi(most)
		return ofAll, row, found && err == nil && 1 <= row && row <= farthest
	}
	for _, anchor := range []string{ofFirst, ofLast} {
		if rest, found := strings.CutPrefix(text, anchor); found {
			if rest == "" {
				return anchor, 0, true
			}
			row, err := strconv.Atoi(rest)
			return anchor, row, err == nil && strings.ContainsAny(rest[:1], "+-") && -farthest <= row && row <= farthest
		}
	}
	return "", 0, false
}

// call parses the name of a function, which begins at p.At.
func (p *parser) call(name string) (call, error) {
	if f, ok := functions[name]; ok && !f.counted {
		return call{name: name}, nil
	}
	base := strings.TrimRight(name, "0123456789")
	switch f, ok := functions[base]; {
	case !ok || !f.counted:
		return call{}, p.Bad(p.At, "function %q, expected one of %s", name, functionNames(true))
	default:
		n, err := strconv.Atoi(name[len(base):])
		if err != nil || n < 1 || n > longestAffix {
			return call{}, p.Bad(p.At, "function %q, expected %s and a number of letters, from 1 to %d", name, base, longestAffix)
		}
		return call{base, n}, nil
	}
}

func firstRune(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}
