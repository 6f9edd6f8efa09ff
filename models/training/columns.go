package training

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// posColumn is the name of the column that the built-in attributes read beside words. By custom it is the second one.
const posColumn = "pos"

// unreadColumns returns the names of the columns beside the label that a template does not read; nil without a
// template.
func unreadColumns(d *structured.Dataset, t *features.Template) (names []string) {
	if t == nil {
		return nil
	}
	for k, read := range t.Reads(d) {
		if name := d.ColumnNames[k]; !read && name != "" && name != text.LabelColumn {
			names = append(names, name)
		}
	}
	return names
}

// unnamedColumns returns the numbers of the columns that have no name, counted from 0 and separated by commas, and
// names for all columns as --columns takes them; empty texts if every column has a name.
func unnamedColumns(d *structured.Dataset) (unnamed, named string) {
	var numbers, names []string
	for k, name := range d.ColumnNames {
		switch name {
		case "":
			numbers = append(numbers, strconv.Itoa(k))
			name := "column" + strconv.Itoa(k)
			if k == 1 && !slices.Contains(d.ColumnNames, posColumn) {
				name = posColumn
			}
			names = append(names, fmt.Sprintf("%s=%d", name, k))
		case text.LabelColumn:
			if k == len(d.ColumnNames)-1 {
				k = -1
			}
			fallthrough
		default:
			names = append(names, fmt.Sprintf("%s=%d", name, k))
		}
	}
	if numbers == nil {
		return "", ""
	}
	return strings.Join(numbers, ","), strings.Join(names, ",")
}
