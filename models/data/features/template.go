package features

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// Template describes the attributes of the positions of a sequence, of the steps between them, and of the segments that
// it may be divided into.
type Template struct {
	Clusters  *Clusters  // of words, for the column cluster; or nil
	Gazetteer *Gazetteer // for the column gazetteer; or nil
	Known     *Known     // for the column known; or nil

	Longest int // the most positions of a segment, for lines about whole segments; 0: there are none

	name  string // of its file, for messages
	lines []line
}

// line is a line of a template: literals and macros in turn, beginning and ending with a literal.
type line struct {
	kind     byte     // 'U', 'B' or 'S'; 0 for a comment or blank line, whose text is its only literal
	number   int      // in its file
	literals []string // one more than macros
	macros   []macro
}

// macro is a function of a cell.
type macro struct {
	calls  []call
	row    int              // row of the cell, relative to the position
	last   int              // of a range of rows, the last one; else row
	anchor string           // in lines about whole segments, what rows are relative to; with ofAll, row and last are the most positions, 0 for any number
	column templates.Column // by name or by number
	at     int              // character of the line where the column's name begins, from 1
}

// call is a function with its number, 0 if it takes none.
type call struct {
	name string
	n    int
}

func (c call) String() string {
	if functions[c.name].counted {
		return c.name + strconv.Itoa(c.n)
	}
	return c.name
}

func (m macro) String() string {
	names := make([]string, len(m.calls))
	for i, c := range m.calls {
		names[i] = c.String()
	}
	rows := strconv.Itoa(m.row)
	switch {
	case m.anchor == ofLength:
		return "%" + ofLength
	case m.anchor == ofAll && m.last > 0:
		rows = m.anchor + rangeMark + rows
	case m.anchor != "" && m.row > 0:
		rows = m.anchor + "+" + rows
	case m.anchor != "" && m.row < 0:
		rows = m.anchor + rows
	case m.anchor != "":
		rows = m.anchor
	case m.last != m.row:
		rows += rangeMark + strconv.Itoa(m.last)
	}
	return templates.Macro(names, rows, m.column)
}

func (l line) String() string {
	if l.kind == 0 {
		return l.literals[0]
	}
	return templates.Join(l.literals, l.macros)
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

// indexOf returns the number of the column in d's Columns, or -1 if d lacks it.
func indexOf(c templates.Column, d *structured.Dataset) int {
	if i := slices.Index(d.ColumnNames, c.Name); i >= 0 && c.Name != text.LabelColumn {
		return i
	}
	number, err := strconv.Atoi(c.Name)
	if err != nil {
		return -1
	}
	for i, name := range d.ColumnNames {
		if name == text.LabelColumn {
			continue
		}
		if number == 0 {
			return i
		}
		number--
	}
	return -1
}

// ReadsAlone reports whether some attribute of positions of data with d's columns depends on column k alone.
func (t *Template) ReadsAlone(d *structured.Dataset, k int) bool {
	return slices.ContainsFunc(t.lines, func(l line) bool { return l.kind == 'U' && len(l.macros) == 1 && indexOf(l.macros[0].column, d) == k })
}

// Reads reports which columns of data with d's columns the template reads.
func (t *Template) Reads(d *structured.Dataset) []bool {
	read := make([]bool, len(d.ColumnNames))
	for _, l := range t.lines {
		for _, m := range l.macros {
			if m.anchor == ofLength {
				continue
			}
			if c := indexOf(m.column, d); c >= 0 {
				read[c] = true
			} else if words := slices.Index(d.ColumnNames, text.WordColumn); words >= 0 && t.listColumn(m.column.Name) != nil {
				read[words] = true // looked up in the list
			}
		}
	}
	return read
}

// fixColumns removes the optional lines whose columns d lacks and makes the other columns required, so that other data
// must have the columns of d.
func (t *Template) fixColumns(d *structured.Dataset) {
	t.lines = slices.DeleteFunc(slices.Clone(t.lines), func(l line) bool {
		return slices.ContainsFunc(l.macros, func(m macro) bool {
			return m.column.Optional && indexOf(m.column, d) < 0 && t.listColumn(m.column.Name) == nil
		})
	})
	for i := range t.lines {
		t.lines[i].macros = slices.Clone(t.lines[i].macros)
		for k := range t.lines[i].macros {
			t.lines[i].macros[k].column.Optional = false
		}
	}
}

// missing returns the error that d lacks the column of a macro.
func (t *Template) missing(l line, m macro, d *structured.Dataset) error {
	var inputs []string
	for _, name := range d.ColumnNames {
		if name != text.LabelColumn {
			inputs = append(inputs, strings.TrimSpace(strconv.Itoa(len(inputs))+" "+name))
		}
	}
	found := "no columns"
	if len(inputs) > 0 {
		found = "columns " + strings.Join(inputs, ", ")
	}
	hint := ""
	switch m.column.Name {
	case clusterColumn:
		hint = "; --clusters makes it"
	case gazetteerColumn:
		hint = "; --gazetteer makes it"
	default:
		if _, err := strconv.Atoi(m.column.Name); err != nil {
			hint = "; --columns says which column it is"
		}
	}
	if m.column.Name == text.LabelColumn {
		return structured.BadInput("%s:%d:%d: column %s is the gold label, expected one of the inputs: %s has %s",
			t.name, l.number, m.at, m.column.Name, d.Name, found)
	}
	return structured.BadInput("%s:%d:%d: column %s, but %s has %s besides the label%s", t.name, l.number, m.at, m.column.Name, d.Name, found, hint)
}
