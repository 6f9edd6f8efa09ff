package features

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// The columns that lists of words make beside those of the data.
const (
	clusterColumn   = "cluster"
	gazetteerColumn = "gazetteer"
	knownColumn     = "known"
)

// listColumn returns the function from a sequence's words to the cells of a column that a list makes, or nil if t has
// no such list.
func (t *Template) listColumn(name string) func(words []string) []string {
	switch {
	case name == clusterColumn && t.Clusters != nil:
		return t.Clusters.cells
	case name == gazetteerColumn && t.Gazetteer != nil:
		return t.Gazetteer.cells
	case name == knownColumn && t.Known != nil:
		return t.Known.cells
	}
	return nil
}

// cells returns a function that returns the cells of a macro's column at positions start to end-1 of d, a whole
// sequence. A column of the data goes before one that a list makes.
func (t *Template) cells(l templates.Line, m templates.Macro,
	d *structured.Dataset) (func(start, end int) []string, error) {
	if c := indexOf(m.Column.Name, d); c >= 0 {
		column := d.Columns[c]
		return func(start, end int) []string { return column[start:end] }, nil
	}
	words, look := d.Column(text.WordColumn), t.listColumn(m.Column.Name)
	if look == nil || words == nil {
		return nil, t.missing(l, m, d)
	}
	return func(start, end int) []string { return look(words[start:end]) }, nil
}

// checkLists refuses lists that have no effect: no line reads their column, or the data has a column of that name.
func (t *Template) checkLists(d *structured.Dataset) error {
	for _, name := range []string{clusterColumn, gazetteerColumn} {
		if t.listColumn(name) == nil {
			continue
		}
		what := "the file of clusters"
		if name == gazetteerColumn {
			what = "the gazetteer"
		}
		switch {
		case slices.Contains(d.ColumnNames, name):
			return structured.BadInput("%s makes a column %s, but %s has one; give that another name among the columns", what,
				name, d.Name)
		case d.Column(text.WordColumn) == nil:
			return structured.BadInput("%s looks up the words of the column %s, but %s has %s", what, text.WordColumn, d.Name,
				strings.Join(d.ColumnNames, " "))
		case !t.ReadsColumn(name):
			return structured.BadInput("%s has no effect: no line of %s reads the column %s, as U%%x[0,%s] does", what, t.Name,
				name, name)
		}
	}
	return nil
}

// appendGroups appends a line for each group: its name and its members, separated by tabs.
func appendGroups(to []byte, names []string, members func(k int) []string) []byte {
	for k, name := range names {
		to = append(to, name...)
		for _, member := range members(k) {
			to = append(append(to, '\t'), member...)
		}
		to = append(to, '\n')
	}
	return to
}

// eachGroup calls do for each member of the groups that appendGroups wrote.
func eachGroup(packed string, do func(group, member string) error) error {
	for line := range strings.Lines(packed) {
		group, members, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		for members != "" {
			var member string
			member, members, _ = strings.Cut(members, "\t")
			if err := do(group, member); err != nil {
				return err
			}
		}
	}
	return nil
}
