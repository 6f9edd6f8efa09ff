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
)

// oddFeatures returns the largest of the columns of d that are far larger than the others; false if there is none.
func oddFeatures(d *structured.Dataset) (odd oddColumn, found bool) {
	if d.Dim == 0 || len(d.Features) == 0 {
		return odd, false
	}
	squares := make([]float64, d.Dim)
	for at := 0; at < len(d.Features); at += d.Dim {
		for k, x := range d.Features[at : at+d.Dim] {
			squares[k] += float64(x) * float64(x)
		}
	}
	scales := make([]float64, d.Dim)
	for k, s := range squares {
		scales[k] = math.Sqrt(s * float64(d.Dim) / float64(len(d.Features)))
	}
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
	for row := range len(d.Features) / d.Dim {
		if x := d.Features[row*d.Dim+odd.column]; math.Abs(float64(x)) > math.Abs(float64(odd.largest)) {
			odd.row, odd.largest = row, x
		}
	}
	return odd, true
}

// String says which column it is, and what to do.
func (o oddColumn) String() string {
	return fmt.Sprintf("%s: column %d of the features has numbers of about %.2g where the usual column has %.2g, and features[%d,%d] is %.3g; mend it, or use --standardise",
		o.name, o.column, o.itself, o.usual, o.row, o.column, o.largest)
}
