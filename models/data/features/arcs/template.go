package arcs

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/features/templates"
)

// Template describes the attributes of arcs.
type Template struct{ templates.Template }

// ForColumns returns the template for data with these columns: it removes the optional lines whose columns are missing,
// and makes all other columns required. A model should store the result.
func (t *Template) ForColumns(columns []string) *Template {
	return &Template{t.Fix(func(column string) bool { return slices.Contains(columns, column) })}
}

// missing returns the error that the data lacks the column of a macro.
func (t *Template) missing(l templates.Line, m templates.Macro, data Columns) error {
	found := "no columns"
	if len(data.Names) > 0 {
		found = "columns " + strings.Join(data.Names, ", ")
	}
	return t.BadColumn(l, m, ", but %s has %s", data.Name, found)
}
