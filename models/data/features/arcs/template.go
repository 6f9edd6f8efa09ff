package arcs

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

// Template describes the attributes of arcs.
type Template struct {
	name  string // of its file, for messages
	lines []line
}

// line is a line of a template: literals and macros in turn, beginning and ending with a literal.
type line struct {
	arc, label bool     // the scores that it feeds; a comment or blank line feeds none, and its text is its only literal
	starred    bool     // it makes a second attribute, with direction and distance
	number     int      // in its file
	literals   []string // one more than macros
	macros     []macro
}

// where is the place of the cells that a macro reads.
type where byte

const (
	atHead where = iota
	atDependent
	between // head and dependent
	nowhere // a property of the arc itself
)

// aggregate says how a macro summarises the tokens between head and dependent, or which property of the arc it is.
type aggregate byte

const (
	each  aggregate = iota // one attribute for each distinct value between
	set                    // the set of values between
	count                  // how many tokens between have a given value
	direction
	distance
)

// macro is a function of a cell, of the cells between, or of the arc.
type macro struct {
	calls     []string // functions of a cell, in the order of application, without x
	where     where
	row       int // row of the cell, relative to the head or the dependent
	column    templates.Column
	at        int       // character of the line where the column's name begins, from 1
	aggregate aggregate // for places between and nowhere
	counted   string    // the value to count
}

func (m macro) String() string {
	names := slices.Clone(m.calls)
	switch {
	case m.where == nowhere && m.aggregate == direction:
		return "%" + directionMacro
	case m.where == nowhere:
		return "%" + distanceMacro
	case m.where == between && m.aggregate == set:
		names = append(names, setCall)
	case m.where == between && m.aggregate == count:
		names = append(names, countCall+m.counted)
	case len(names) == 0:
		names = append(names, "x")
	}
	place := betweenPlace
	if m.where != between {
		place = "h"
		if m.where == atDependent {
			place = "d"
		}
		if m.row > 0 {
			place += "+"
		}
		if m.row != 0 {
			place += strconv.Itoa(m.row)
		}
	}
	return templates.Macro(names, place, m.column)
}

// scores returns the letters of the scores that the line feeds.
func (l line) scores() []string {
	var letters []string
	if l.arc {
		letters = append(letters, "A")
	}
	if l.label {
		letters = append(letters, "L")
	}
	return letters
}

// text returns the line without its kind.
func (l line) text() string { return templates.Join(l.literals, l.macros) }

func (l line) comment() bool { return !l.arc && !l.label }

func (l line) String() string {
	if l.comment() {
		return l.literals[0]
	}
	star := ""
	if l.starred {
		star = "*"
	}
	return strings.Join(l.scores(), "") + star + " " + l.text()
}

// String returns the template in the form that Parse reads, comments included.
func (t *Template) String() string {
	var s strings.Builder
	for _, l := range t.lines {
		s.WriteString(l.String())
		s.WriteByte('\n')
	}
	return s.String()
}

// ForColumns returns the template for data with these columns: it removes the optional lines whose columns are missing,
// and makes all other columns required. A model should store the result.
func (t *Template) ForColumns(columns []string) *Template {
	settled := &Template{name: t.name}
	for _, l := range t.lines {
		if slices.ContainsFunc(l.macros, func(m macro) bool {
			return m.column.Optional && !slices.Contains(columns, m.column.Name)
		}) {
			continue
		}
		l.macros = slices.Clone(l.macros)
		for k := range l.macros {
			l.macros[k].column.Optional = false
		}
		settled.lines = append(settled.lines, l)
	}
	return settled
}

// missing returns the error that the data lacks the column of a macro.
func (t *Template) missing(l line, m macro, data Columns) error {
	found := "no columns"
	if len(data.Names) > 0 {
		found = "columns " + strings.Join(data.Names, ", ")
	}
	return structured.BadInput("%s:%d:%d: column %s, but %s has %s", t.name, l.number, m.at, m.column.Name, data.Name, found)
}

// Reads reports whether the template reads a column.
func (t *Template) Reads(column string) bool {
	return slices.ContainsFunc(t.lines, func(l line) bool {
		return slices.ContainsFunc(l.macros, func(m macro) bool { return m.where != nowhere && m.column.Name == column })
	})
}
