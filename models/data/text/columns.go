// Package text reads and writes text files of sequences: columns (CoNLL, CoNLL-U) and CRFsuite's attribute files. It
// parses files in blocks on several threads, keeps the file's layout for predictions, and encodes words as discrete
// inputs. It also reads partial labels.
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

// DefaultColumns means that the first column is the word and the last one the label.
const DefaultColumns = "word=0,label=-1"

// Columns name the columns of a CoNLL file.
type Columns struct {
	Origin string // where the user names the columns, for messages; may be empty
	fields []columnField
}

type columnField struct {
	name  string
	index int // index from 0, or negative from the right: −1 is the last
}

// ParseColumns parses a list like "word=0,pos=1,label=-1": names and column indices from 0; negative ones count from
// the right. LabelColumn is the gold label; every other name is an input.
func ParseColumns(spec string) (Columns, error) {
	var c Columns
	for _, item := range strings.Split(spec, ",") {
		name, text, ok := strings.Cut(strings.TrimSpace(item), "=")
		index, err := strconv.Atoi(text)
		if !ok || name == "" || err != nil || index < -1000 || index > 1000 {
			return Columns{}, structured.BadInput("columns %q: %q is not name=column; expected a list like %q",
				spec, item, DefaultColumns)
		}
		for _, f := range c.fields {
			if f.name == name || f.index == index {
				return Columns{}, structured.BadInput("columns %q: %s=%d and %s=%d; each name and each column can be given once",
					spec, f.name, f.index, name, index)
			}
		}
		c.fields = append(c.fields, columnField{name, index})
	}
	// Sort by column: first those counted from the left, then those counted from the right.
	slices.SortFunc(c.fields, func(a, b columnField) int { return cmp.Compare(uint(a.index), uint(b.index)) })
	return c, nil
}

// String returns the list in the form that ParseColumns reads.
func (c Columns) String() string {
	items := make([]string, len(c.fields))
	for i, f := range c.fields {
		items[i] = f.name + "=" + strconv.Itoa(f.index)
	}
	return strings.Join(items, ",")
}

func (c Columns) Has(name string) bool {
	return slices.ContainsFunc(c.fields, func(f columnField) bool { return f.name == name })
}

// minWidth returns the smallest number of columns in which no two fields share a column.
func (c Columns) minWidth() int {
	left, right := 0, 0
	for _, f := range c.fields {
		left, right = max(left, f.index+1), max(right, -f.index)
	}
	return left + right
}

// Names returns the names of the columns of a file without labels that has width columns with them, 0 for no more than
// are named: "" for those without a name.
func (c Columns) Names(width int) []string {
	return slices.DeleteFunc(c.names(max(width, c.minWidth())), func(name string) bool { return name == LabelColumn })
}

// names returns the names of width ≥ minWidth columns, "" for those without a name.
func (c Columns) names(width int) []string {
	names := make([]string, width)
	for _, f := range c.fields {
		index := f.index
		if index < 0 {
			index += width
		}
		names[index] = f.name
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
