// Package templates is the language of templates, which list the attributes of data. Tokens (features), arcs
// (features/arcs) and word pairs (features/pairs) have a vocabulary each, a Language: it says with which letters lines
// begin and what they may look at.
//
// Lines that are blank or begin with # are comments. A line of another kind is a literal with macros, and %% is a
// percent sign. A macro %lower.suffix3[h-1,word] applies functions from left to right to a cell of the data: it has a
// place, such as a row, and a column. With a question mark, the column is optional: for data without it, the line is
// left out. A macro without a cell, such as %length, is a property of what the line is about. x is the cell itself.
package templates

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Template is a template that a Language has read. It prints as its text, comments included.
type Template struct {
	Name  string // of its file, for messages
	Lines []Line

	language *Language
}

// Line is a line of a template: literals and macros in turn, beginning and ending with a literal.
type Line struct {
	Number   int      // in its file, from 1
	Kind     string   // the letters that it begins with; "" for a comment or blank line, whose text is its only literal
	Literals []string // one more than macros; the letters are in the first one if the language is Joined
	Macros   []Macro
}

// Macro is a function of a cell, or a property of what the line is about.
type Macro struct {
	Functions []string // of a cell, in the order of application, without x
	Place     Place    // of a property, Of is its name
	Property  bool     // it has no cell
	Column    Column
	At        int // character of the line where the column's name begins, from 1
}

// Place is where a cell is.
type Place struct {
	Of   string // the anchor that rows are relative to
	Row  int
	Last int // of a range of rows, the last one, or of segments the most positions; else Row
}

// Column is a column of the data. A line with an optional one is left out where the data lack it.
type Column struct {
	Name     string
	Optional bool
}

func (p Place) String() string {
	text := p.Of
	switch {
	case p.Of == "":
		text = strconv.Itoa(p.Row)
	case p.Row != 0:
		text = fmt.Sprintf("%s%+d", p.Of, p.Row)
	}
	if p.Last != p.Row {
		text += rangeMark + strconv.Itoa(p.Last)
	}
	return text
}

func (m Macro) String() string {
	if m.Property {
		return "%" + m.Place.Of
	}
	functions, mark := strings.Join(m.Functions, "."), ""
	if functions == "" {
		functions = cellItself
	}
	if m.Column.Optional {
		mark = "?"
	}
	return fmt.Sprintf("%%%s[%v,%s%s]", functions, m.Place, m.Column.Name, mark)
}

// Text returns the literals and macros of a line.
func (l Line) Text() string {
	if l.Kind == "" {
		return l.Literals[0]
	}
	var s strings.Builder
	for k, literal := range l.Literals {
		s.WriteString(strings.ReplaceAll(literal, "%", "%%"))
		if k < len(l.Macros) {
			s.WriteString(l.Macros[k].String())
		}
	}
	return s.String()
}

// String returns the template in the form that its language reads, comments included.
func (t *Template) String() string {
	var s strings.Builder
	for _, l := range t.Lines {
		if l.Kind != "" && !t.language.Joined {
			s.WriteString(l.Kind + " ")
		}
		s.WriteString(l.Text() + "\n")
	}
	return s.String()
}

// ReadsColumn reports whether a line reads a column.
func (t *Template) ReadsColumn(name string) bool {
	return slices.ContainsFunc(t.Lines, func(l Line) bool {
		return slices.ContainsFunc(l.Macros, func(m Macro) bool { return !m.Property && m.Column.Name == name })
	})
}

// Fix returns the template for data with some columns: without the optional lines whose columns are missing, and with
// all other columns required. A model should store the result.
func (t *Template) Fix(has func(column string) bool) Template {
	fixed := Template{Name: t.Name, language: t.language}
	for _, l := range t.Lines {
		if slices.ContainsFunc(l.Macros, func(m Macro) bool { return m.Column.Optional && !has(m.Column.Name) }) {
			continue
		}
		l.Macros = slices.Clone(l.Macros)
		for k := range l.Macros {
			l.Macros[k].Column.Optional = false
		}
		fixed.Lines = append(fixed.Lines, l)
	}
	return fixed
}

// Bad returns a BadInput error about a line, with file:line.
func (t *Template) Bad(l Line, format string, args ...any) error {
	return structured.BadInput("%s:%d: "+format, append([]any{t.Name, l.Number}, args...)...)
}

// BadColumn returns a BadInput error about the column of a macro, with file:line:column.
func (t *Template) BadColumn(l Line, m Macro, format string, args ...any) error {
	return structured.BadInput("%s:%d:%d: column %s"+format,
		append([]any{t.Name, l.Number, m.At, m.Column.Name}, args...)...)
}
