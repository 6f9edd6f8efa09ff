package models

import (
	"errors"
	"fmt"
	"math"

	"github.com/dsp-go/dsp/structured"
)

// errNotValid says that a model's potentials of some data are no numbers that oracles answer for.
var errNotValid = errors.New(structured.NotValid)

// largestInput is the dense input or the value of an attribute, of those that data give, that is farthest from 0.
type largestInput struct {
	of     string // what has it: features, the attributes of positions, or a table such as edge
	row    int
	column int // of features; −1 for attributes
	value  float32
}

// blamed is the least absolute value of an input that is blamed for potentials that are not valid: those of smaller
// ones are the model's fault.
const blamed = 1e6

// largestOf returns the largest input of d, whose inputs are as they were given.
func largestOf(d *structured.Dataset) largestInput {
	var most largestInput
	dense := func(of string, x []float32, dim int) {
		for i, v := range x {
			if farther(v, most.value) {
				most = largestInput{of, i / dim, i % dim, v}
			}
		}
	}
	sparse := func(of string, x *structured.Sparse) {
		if x == nil || x.Value == nil {
			return
		}
		for row := range len(x.Offsets) - 1 {
			for _, v := range x.Value[x.Offsets[row]:x.Offsets[row+1]] {
				if farther(v, most.value) {
					most = largestInput{of, row, -1, v}
				}
			}
		}
	}
	dense(structured.Positions, d.Features, d.Dim)
	sparse(structured.Positions, d.Attributes)
	for _, t := range d.Tables {
		dense(t.Name, t.Features, t.Dim)
		sparse(t.Name, t.Attributes)
	}
	return most
}

func farther(v, than float32) bool { return math.Abs(float64(v)) > math.Abs(float64(than)) }

// explain returns bad input that names the value, in place of an error about potentials that are not valid. Other
// errors stay.
func (l largestInput) explain(err error) error {
	if !errors.Is(err, errNotValid) || math.Abs(float64(l.value)) < blamed {
		return err
	}
	what := fmt.Sprintf("feature %d", l.column)
	if l.column < 0 {
		what = "an attribute"
	}
	return structured.BadInput("%s of %s %d is %g: with it the model's potentials are %s; expected smaller values", what, l.of, l.row, l.value, structured.NotValid)
}
