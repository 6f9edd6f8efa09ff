package training

import (
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// oddColumn is a column of dense features that is far larger than the others.
type oddColumn struct {
	name          string // of the data
	column, row   int    // the row has its largest number
	largest       float32
	itself, usual float64 // root mean square of the column, and the median of those of all columns
}

const (
	manyTimes = 1e4 // as large as the usual column, from where on one regulariser and one step size no longer serve both
	farTooBig = 1e5 // for any column: potentials of float32 lose their digits

	wellBeyondOne = 10 // a column as large as that may be why training is slow
)

// columnScales returns the root mean square of every column of features that are in memory, or in a file.
func columnScales(d *structured.Dataset) []float64 {
	squares, rows := make([]float64, d.Dim), 0
	err := d.EachRow(func(row []float32) {
		rows++
		for k, x := range row {
			squares[k] += float64(x) * float64(x)
		}
	})
	scales := make([]float64, d.Dim)
	for k, s := range squares {
		if err == nil { // else it fails where it is used
			scales[k] = math.Sqrt(s * float64(d.Dim) / float64(rows*d.Dim))
		}
	}
	return scales
}

// largeFeatures is the end of a sentence about a run that came nowhere near its optimum on features that are not near
// 1; empty for others.
func largeFeatures(d *structured.Dataset) string {
	if d.Dim == 0 || len(d.Features) == 0 && !d.Stored {
		return ""
	}
	scales := columnScales(d)
	largest := slices.Max(scales)
	if largest <= wellBeyondOne {
		return ""
	}
	return fmt.Sprintf("; column %d of the features has numbers of about %.2g, which --standardise scales", slices.Index(scales, largest), largest)
}

// oddFeatures returns the largest of the columns of d that are far larger than the others; false if there is none.
func oddFeatures(d *structured.Dataset) (odd oddColumn, found bool) {
	if d.Dim == 0 || len(d.Features) == 0 && !d.Stored {
		return odd, false
	}
	scales := columnScales(d)
	largest := slices.Max(scales)
	odd = oddColumn{name: d.Name, column: slices.Index(scales, largest), itself: largest}
	nonzero := slices.DeleteFunc(scales, func(s float64) bool { return s == 0 })
	slices.Sort(nonzero)
	if len(nonzero) == 0 {
		return odd, false
	}
	odd.usual = nonzero[(len(nonzero)-1)/2] // the lower one of two
	if !(largest > manyTimes*odd.usual || largest > farTooBig) {
		return odd, false
	}
	row := 0
	err := d.EachRow(func(x []float32) {
		if x := x[odd.column]; math.Abs(float64(x)) > math.Abs(float64(odd.largest)) {
			odd.row, odd.largest = row, x
		}
		row++
	})
	return odd, err == nil
}

// String says which column it is, and what to do.
func (o oddColumn) String() string {
	than := fmt.Sprintf("where the usual column has %.2g", o.usual)
	if !(o.itself > manyTimes*o.usual) { // others are as large
		than = "where numbers of about 1 train well"
	}
	return fmt.Sprintf("%s: column %d of the features has numbers of about %.2g %s, and features[%d,%d] is %.3g; mend it, or use --standardise",
		o.name, o.column, o.itself, than, o.row, o.column, o.largest)
}
