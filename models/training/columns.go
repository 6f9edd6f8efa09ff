package training

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// unnamedColumns returns the numbers of the columns that have no name, counted from 0 and separated by commas, and names for all columns
// as --columns takes them; empty texts if every column has a name.
func unnamedColumns(d *structured.Dataset) (unnamed, named string) {
	var numbers, names []string
	for k, name := range d.ColumnNames {
		switch name {
		case "":
			numbers = append(numbers, strconv.Itoa(k))
			names = append(names, fmt.Sprintf("column%d=%[1]d", k))
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
