// Package templates is what the languages of templates have in common: those of tokens (features), arcs (features/arcs)
// and word pairs (features/pairs). A template has lines. Lines that are blank or begin with # are comments. The others
// begin with letters that say what they are about. In the first two languages literals and macros follow, %% stands for
// a percent sign, and a macro such as %lower[0,word] applies functions to a cell of the data.
package templates

import (
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/dsp-go/dsp/structured"
)

// Line is a line of a template that is read from its beginning to its end.
type Line struct {
	Number int    // in its file, from 1
	Text   string // without white space at its end
	At     int    // bytes read so far

	file string
}

// Lines yields the lines of a template; name is the file's name for messages.
func Lines(text, name string) iter.Seq[*Line] {
	return func(yield func(*Line) bool) {
		text = strings.TrimSuffix(strings.TrimPrefix(text, "\ufeff"), "\n")
		for i, content := range strings.Split(text, "\n") {
			if !yield(&Line{Number: i + 1, Text: strings.TrimRight(content, " \t\r\v\f"), file: name}) {
				return
			}
		}
	}
}

// Comment reports whether the line says nothing.
func (l *Line) Comment() bool { return l.Text == "" || l.Text[0] == '#' }

// Bad returns a BadInput error about the text that begins at byte at, with file:line:column.
func (l *Line) Bad(at int, format string, args ...any) error {
	return structured.BadInput("%s:%d:%d: "+format, append([]any{l.file, l.Number, l.Character(at)}, args...)...)
}

// Wrong is Bad for the whole line, with file:line.
func (l *Line) Wrong(format string, args ...any) error {
	return structured.BadInput("%s:%d: "+format, append([]any{l.file, l.Number}, args...)...)
}

// Character returns the number of the character that begins at byte at, from 1.
func (l *Line) Character(at int) int { return utf8.RuneCountInString(l.Text[:at]) + 1 }

// Literals reads the rest of the line: literals and macros in turn, beginning and ending with a literal. It calls macro
// behind the percent sign of each macro, to read it.
func (l *Line) Literals(macro func() error) ([]string, error) {
	var literals []string
	var literal strings.Builder
	for l.At < len(l.Text) {
		rest := l.Text[l.At:]
		switch percent := strings.IndexByte(rest, '%'); {
		case percent < 0:
			literal.WriteString(rest)
			l.At = len(l.Text)
		case strings.HasPrefix(rest[percent:], "%%"):
			literal.WriteString(rest[:percent+1])
			l.At += percent + 2
		default:
			literal.WriteString(rest[:percent])
			l.At += percent + 1
			if err := macro(); err != nil {
				return nil, err
			}
			literals = append(literals, literal.String())
			literal.Reset()
		}
	}
	return append(literals, literal.String()), nil
}

// Join returns the text of literals and macros.
func Join[M fmt.Stringer](literals []string, macros []M) string {
	var s strings.Builder
	for i, literal := range literals {
		s.WriteString(strings.ReplaceAll(literal, "%", "%%"))
		if i < len(macros) {
			s.WriteString(macros[i].String())
		}
	}
	return s.String()
}

// Column is a column of the data. A line with an optional one is left out where the data lack it.
type Column struct {
	Name     string
	Optional bool
}

// Macro returns the text of a macro with functions and a cell.
func Macro(functions []string, place string, c Column) string {
	mark := ""
	if c.Optional {
		mark = "?"
	}
	return "%" + strings.Join(functions, ".") + "[" + place + "," + c.Name + mark + "]"
}

// Language is what messages say of a language with macros.
type Language struct {
	Cell   string // what follows the functions of a macro: [row,column]
	Macros string // examples
	Column string // what names a column
}

// Open returns the byte at which the cell of a macro begins; the line is behind the percent sign.
func (g Language) Open(l *Line) (int, error) {
	open := strings.IndexByte(l.Text[l.At:], '[')
	if open < 0 {
		sign := l.At - len("%")
		return 0, l.Bad(sign, "%q without %s, expected a macro like %s, or %%%% for a percent sign", l.Text[sign:], g.Cell, g.Macros)
	}
	return l.At + open, nil
}

// Read reads the cell that begins at byte open: the place, and the text that names a column (Language.Named).
func (g Language) Read(l *Line, open int) (place, column string, err error) {
	length := strings.IndexByte(l.Text[open:], ']')
	if length < 0 {
		return "", "", l.Bad(open, "%q without ], expected %s", l.Text[open:], g.Cell)
	}
	l.At = open + length + 1
	place, column, ok := strings.Cut(l.Text[open+1:open+length], ",")
	if !ok {
		return "", "", l.Bad(open, "%q, expected %s", l.Text[open:l.At], g.Cell)
	}
	return place, column, nil
}

// Named returns the column that a text names, and the character at which it begins, in the cell that begins at byte
// open.
func (g Language) Named(l *Line, open int, place, text string) (c Column, character int, err error) {
	at := open + len("[") + len(place) + len(",")
	c.Name, c.Optional = strings.CutSuffix(text, "?")
	if c.Name == "" || strings.TrimSpace(c.Name) != c.Name || strings.ContainsAny(c.Name, ",?%[") {
		return c, 0, l.Bad(at, "column %q, expected %s", text, g.Column)
	}
	return c, l.Character(at), nil
}
