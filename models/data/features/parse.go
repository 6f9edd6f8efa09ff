package features

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dsp-go/dsp/structured"
)

const (
	farthest     = 100 // rows from a position
	longestAffix = 100 // letters
	rangeMark    = ".."
)

// Parse parses a template; name is the file's name for messages. Errors are bad input, with file:line:column.
func Parse(text, name string) (*Template, error) {
	t := &Template{name: name}
	features := 0
	text = strings.TrimSuffix(strings.TrimPrefix(text, "\ufeff"), "\n")
	for i, content := range strings.Split(text, "\n") {
		l, err := parser{name: name, number: i + 1, text: strings.TrimRight(content, " \t\r\v\f")}.line()
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

func (p parser) line() (line, error) {
	l := line{number: p.number}
	if p.text == "" || p.text[0] == '#' {
		l.literals = []string{p.text}
		return l, nil
	}
	if l.kind = p.text[0]; l.kind != 'U' && l.kind != 'B' && l.kind != 'S' {
		return l, p.bad(0, "a line that begins with %q, expected U, B, S or #", p.text[:firstRune(p.text)])
	}
	var literal strings.Builder
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
			p.at += percent + 1
			m, err := p.macro(l.kind == 'S')
			if err != nil {
				return l, err
			}
			l.literals = append(l.literals, literal.String())
			l.macros = append(l.macros, m)
			literal.Reset()
		}
	}
	l.literals = append(l.literals, literal.String())
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
				return p.bad(0, "%s has several values, expected no function after it, found %s", c, m.calls[k+1])
			case several && len(l.macros) > 1:
				return p.bad(0, "%s has several values, expected a line without other macros", c)
			case m.anchor == ofAll && m.column.name == gazetteerColumn && (len(m.calls) > 1 || c.name != "x" && c.name != "each"):
				return p.bad(0, "%s of a whole segment's types in the gazetteer, expected x or each", c)
			case several && m.anchor == ofAll && m.column.name != gazetteerColumn:
				return p.bad(0, "%s has several values, expected a row first or last, not all", c)
			case functions[c.name].outside && m.anchor == ofAll:
				return p.bad(0, "%s has no value inside a segment, expected a row first or last", c)
			}
		}
	}
	if ranges > 1 {
		return p.bad(0, "%d ranges of rows, expected at most one per line", ranges)
	}
	return nil
}

// macro parses the text after a percent sign, in a line about whole segments or in another one.
func (p *parser) macro(whole bool) (macro, error) {
	var m macro
	if rest, ok := strings.CutPrefix(p.text[p.at:], ofLength); ok && whole && !strings.HasPrefix(rest, "[") {
		m.anchor = ofLength
		p.at += len(ofLength)
		return m, nil
	}
	open := strings.IndexByte(p.text[p.at:], '[')
	if open < 0 {
		return m, p.bad(p.at-1, "%q without [row,column], expected a macro like %%x[0,word], or %%%% for a percent sign", p.text[p.at-1:])
	}
	open += p.at
	for name := range strings.SplitSeq(p.text[p.at:open], ".") {
		c, err := p.call(name)
		if err != nil {
			return m, err
		}
		m.calls = append(m.calls, c)
		p.at += len(name) + len(".")
	}
	length := strings.IndexByte(p.text[open:], ']')
	if length < 0 {
		return m, p.bad(open, "%q without ], expected [row,column]", p.text[open:])
	}
	p.at = open + length + 1
	row, name, ok := strings.Cut(p.text[open+1:open+length], ",")
	if !ok {
		return m, p.bad(open, "%q, expected [row,column]", p.text[open:p.at])
	}
	if whole {
		if m.anchor, m.row, ok = rowsOfSegment(row); !ok {
			return m, p.bad(open+1, "row %q, expected first or last, such as first-1 and last+2, up to %d rows away, or all, such as all..3 for segments of at most 3 positions",
				row, farthest)
		}
		m.last = m.row
	} else if m.row, m.last, ok = rowsOf(row); !ok {
		return m, p.bad(open+1, "row %q, expected a number from %d to %d, or a range like -4..-1", row, -farthest, farthest)
	}
	at := open + len("[") + len(row) + len(",")
	m.at = utf8.RuneCountInString(p.text[:at]) + 1
	m.column.name, m.column.optional = strings.CutSuffix(name, "?")
	if m.column.name == "" || strings.TrimSpace(m.column.name) != m.column.name || strings.ContainsAny(m.column.name, ",?%[") {
		return m, p.bad(at, "column %q, expected the name of a column, or a number from 0", name)
	}
	return m, nil
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

// rowsOfSegment parses a row of a line about whole segments: what it is relative to, and how far it is from there or, for all, the most positions.
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

// call parses the name of a function, which begins at p.at.
func (p *parser) call(name string) (call, error) {
	if f, ok := functions[name]; ok && !f.counted {
		return call{name: name}, nil
	}
	base := strings.TrimRight(name, "0123456789")
	switch f, ok := functions[base]; {
	case !ok || !f.counted:
		return call{}, p.bad(p.at, "function %q, expected one of %s", name, functionNames(true))
	default:
		n, err := strconv.Atoi(name[len(base):])
		if err != nil || n < 1 || n > longestAffix {
			return call{}, p.bad(p.at, "function %q, expected %s and a number of letters, from 1 to %d", name, base, longestAffix)
		}
		return call{base, n}, nil
	}
}

func firstRune(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}
