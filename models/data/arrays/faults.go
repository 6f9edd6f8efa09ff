package arrays

import (
	"slices"

	"github.com/dsp-go/dsp/models/data/remarks"
)

// faults are what is wrong with examples that are left out. Nil faults are those of a reader that leaves none out.
type faults struct {
	rows     map[int]error // of features, until it is known which examples they are of
	examples map[int]error
}

// newFaults returns faults for a reader that makes remarks.
func newFaults(say *remarks.Remarks) *faults {
	if !say.Skips() {
		return nil
	}
	return &faults{map[int]error{}, map[int]error{}}
}

// of returns an error about an example, or keeps it if the example is left out.
func (f *faults) of(example int, err error) error {
	if f == nil {
		return err
	}
	if f.examples[example] == nil {
		f.examples[example] = err
	}
	return nil
}

// at is of about the example that has a position, if example i has positions offsets[i] to offsets[i+1]−1.
func (f *faults) at(offsets []int, position int, err error) error {
	if f == nil {
		return err
	}
	i, found := slices.BinarySearch(offsets, position)
	for found && i+1 < len(offsets) && offsets[i+1] == position { // examples without positions
		i++
	}
	if !found {
		i--
	}
	return f.of(i, err)
}

// row is of about the example that has a row of features, which place finds.
func (f *faults) row(row int, err error) error {
	if f == nil {
		return err
	}
	if f.rows[row] == nil {
		f.rows[row] = err
	}
	return nil
}

// place finds the examples of rows of features with a fault; rows are in the order of positions or, where rows is not
// nil, those of each position. A row that is no position has none.
func (f *faults) place(offsets, rows []int) {
	if f == nil || len(f.rows) == 0 {
		return
	}
	for k := range offsets[len(offsets)-1] {
		row := k
		if rows != nil {
			row = rows[k]
		}
		if err := f.rows[row]; err != nil {
			_ = f.at(offsets, k, err) // which keeps it
		}
	}
	clear(f.rows)
}

// keeps returns the error that leaves an example out.
func (f *faults) keeps(example int) error { return f.examples[example] }
