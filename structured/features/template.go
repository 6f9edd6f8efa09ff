package features

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/text"
)

// Template says which attributes the positions of a sequence have, and the steps between them.
type Template struct {
	name  string // of its file, for messages
	lines []line
}

// line is a line of a template: literal text, a macro, literal text, …, a macro, literal text.
type line struct {
	kind     byte     // 'U' or 'B'; 0 of a comment or blank line, which is its only literal
	number   int      // in its file
	literals []string // one more than macros
	macros   []macro
}

// macro stands for a function of a cell.
type macro struct {
	calls  []call
	row    int // of the cell, counted from the position
	column column
	at     int // character of the line where the column is named, from 1
}

// call is a function with its number, 0 where it has none.
type call struct {
	name string
	n    int
}

// column is a column of the data, by name or by number.
type column struct {
	name     string // or the number
	optional bool
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
	mark := ""
	if m.column.optional {
		mark = "?"
	}
	return "%" + strings.Join(names, ".") + "[" + strconv.Itoa(m.row) + "," + m.column.name + mark + "]"
}

func (l line) String() string {
	if l.kind == 0 {
		return l.literals[0]
	}
	var s strings.Builder
	for i, literal := range l.literals {
		s.WriteString(strings.ReplaceAll(literal, "%", "%%"))
		if i < len(l.macros) {
			s.WriteString(l.macros[i].String())
		}
	}
	return s.String()
}

// String is what Parse reads, comments included.
func (t *Template) String() string {
	var s strings.Builder
	for _, l := range t.lines {
		s.WriteString(l.String())
		s.WriteByte('\n')
	}
	return s.String()
}

// index returns the number of the column in d's Columns, or -1 where d lacks it.
func (c column) index(d *structured.Dataset) int {
	if i := slices.Index(d.ColumnNames, c.name); i >= 0 && c.name != text.LabelColumn {
		return i
	}
	number, err := strconv.Atoi(c.name)
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

// settle leaves out the optional lines whose columns d lacks, and makes the others required, so that other data must have
// the columns that d had.
func (t *Template) settle(d *structured.Dataset) {
	t.lines = slices.DeleteFunc(slices.Clone(t.lines), func(l line) bool {
		return slices.ContainsFunc(l.macros, func(m macro) bool { return m.column.optional && m.column.index(d) < 0 })
	})
	for i := range t.lines {
		t.lines[i].macros = slices.Clone(t.lines[i].macros)
		for k := range t.lines[i].macros {
			t.lines[i].macros[k].column.optional = false
		}
	}
}

// missing is the error that d lacks the column of a macro.
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
	if m.column.name == text.LabelColumn {
		return structured.BadInput("%s:%d:%d: column %s is the gold label, expected one of the inputs: %s has %s",
			t.name, l.number, m.at, m.column.name, d.Name, found)
	}
	return structured.BadInput("%s:%d:%d: column %s, but %s has %s besides the label", t.name, l.number, m.at, m.column.name, d.Name, found)
}
