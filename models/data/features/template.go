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
	templates.Template

	Clusters  *Clusters  // of words, for the column cluster; or nil
	Gazetteer *Gazetteer // for the column gazetteer; or nil
	Known     *Known     // for the column known; or nil

	Longest int // the most positions of a segment, for lines about whole segments; 0: there are none
}

// indexOf returns the number of the column with that name, or number, in d's Columns, or -1 if d lacks it.
func indexOf(name string, d *structured.Dataset) int {
	if i := slices.Index(d.ColumnNames, name); i >= 0 && name != text.LabelColumn {
		return i
	}
	number, err := strconv.Atoi(name)
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
	return slices.ContainsFunc(t.Lines, func(l templates.Line) bool {
		return l.Kind == ofPositions && len(l.Macros) == 1 && indexOf(l.Macros[0].Column.Name, d) == k
	})
}

// Reads reports which columns of data with d's columns the template reads.
func (t *Template) Reads(d *structured.Dataset) []bool {
	read := make([]bool, len(d.ColumnNames))
	for _, l := range t.Lines {
		for _, m := range l.Macros {
			if m.Property {
				continue
			}
			if c := indexOf(m.Column.Name, d); c >= 0 {
				read[c] = true
			} else if words := slices.Index(d.ColumnNames, text.WordColumn); words >= 0 && t.listColumn(m.Column.Name) != nil {
				read[words] = true // looked up in the list
			}
		}
	}
	return read
}

// fixColumns removes the optional lines whose columns d lacks and makes the other columns required, so that other data
// must have the columns of d.
func (t *Template) fixColumns(d *structured.Dataset) {
	t.Template = t.Fix(func(column string) bool { return indexOf(column, d) >= 0 || t.listColumn(column) != nil })
}

// missing returns the error that d lacks the column of a macro.
func (t *Template) missing(l templates.Line, m templates.Macro, d *structured.Dataset) error {
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
	switch m.Column.Name {
	case clusterColumn:
		hint = "; --clusters makes it"
	case gazetteerColumn:
		hint = "; --gazetteer makes it"
	default:
		if _, err := strconv.Atoi(m.Column.Name); err != nil {
			hint = "; --columns says which column it is"
		}
	}
	if m.Column.Name == text.LabelColumn {
		return t.BadColumn(l, m, " is the gold label, expected one of the inputs: %s has %s", d.Name, found)
	}
	return t.BadColumn(l, m, ", but %s has %s besides the label%s", d.Name, found, hint)
}
