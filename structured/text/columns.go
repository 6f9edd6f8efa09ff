package text

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// LabelColumn is the name of the column that holds gold labels.
const LabelColumn = "label"

// DefaultColumns says that the word comes first and the label last.
const DefaultColumns = "word=0,label=-1"

// Columns say which column of a CoNLL file is what.
type Columns struct{ fields []columnField }

type columnField struct {
	name string
	at   int // from 0, or from the right, from -1
}

// ParseColumns reads a list like "word=0,pos=1,label=-1": names and the columns they stand for, from 0, negative ones
// counted from the right. LabelColumn is the gold label; every other name is an input.
func ParseColumns(spec string) (Columns, error) {
	var c Columns
	for _, item := range strings.Split(spec, ",") {
		name, index, ok := strings.Cut(strings.TrimSpace(item), "=")
		at, err := strconv.Atoi(index)
		if !ok || name == "" || err != nil || at < -1000 || at > 1000 {
			return Columns{}, structured.BadInput("--columns %q: %q is not name=column; expected a list like %q", spec, item, DefaultColumns)
		}
		for _, f := range c.fields {
			if f.name == name || f.at == at {
				return Columns{}, structured.BadInput("--columns %q: %s=%d and %s=%d; each name and each column can be given once", spec, f.name, f.at, name, at)
			}
		}
		c.fields = append(c.fields, columnField{name, at})
	}
	// In the order of the columns: from the left, then those counted from the right.
	slices.SortFunc(c.fields, func(a, b columnField) int { return cmp.Compare(uint(a.at), uint(b.at)) })
	return c, nil
}

// String is what ParseColumns reads.
func (c Columns) String() string {
	items := make([]string, len(c.fields))
	for i, f := range c.fields {
		items[i] = f.name + "=" + strconv.Itoa(f.at)
	}
	return strings.Join(items, ",")
}

// Has reports whether a column is named.
func (c Columns) Has(name string) bool {
	return slices.ContainsFunc(c.fields, func(f columnField) bool { return f.name == name })
}

// minWidth returns the smallest number of columns in which all fields have a place of their own.
func (c Columns) minWidth() int {
	left, right := 0, 0
	for _, f := range c.fields {
		left, right = max(left, f.at+1), max(right, -f.at)
	}
	return left + right
}

// names returns the name of each of width ≥ minWidth columns, "" where there is none.
func (c Columns) names(width int) []string {
	names := make([]string, width)
	for _, f := range c.fields {
		at := f.at
		if at < 0 {
			at += width
		}
		names[at] = f.name
	}
	return names
}

// list returns the names in order, for messages: "word pos label".
func (c Columns) list() string {
	var names []string
	for _, f := range c.fields {
		names = append(names, f.name)
	}
	return strings.Join(names, " ")
}
