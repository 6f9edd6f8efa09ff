package models

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// The input that messages blame is the farthest from 0, of features and values of attributes, of positions and of the
// rows of tables.
func TestLargestOf(t *testing.T) {
	attributes := func(value float32) *structured.Sparse {
		return &structured.Sparse{Offsets: []int{0, 1, 2}, Index: []int32{3, 4}, Value: []float32{1, value}}
	}
	for want, at := range map[largestInput]int{
		{structured.Positions, 1, 1, -7e6}:  0,
		{structured.Positions, 1, -1, -7e6}: 1,
		{structured.Edges, 0, 2, -7e6}:      2,
		{structured.Pairs, 1, -1, -7e6}:     3,
	} {
		values := [4]float32{2, 2, 2, 2}
		values[at] = -7e6
		d := &structured.Dataset{
			Offsets: []int{0, 2}, Dim: 2, Features: []float32{0, 1, 2, values[0]}, Attributes: attributes(values[1]),
			Tables: []*structured.Table{
				{Name: structured.Edges, Offsets: []int{0, 1}, Dim: 3, Features: []float32{1, 1, values[2]}},
				{Name: structured.Pairs, Offsets: []int{0, 2}, Attributes: attributes(values[3])},
			},
		}
		got := largestOf(d)
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if err := got.explain(errNotValid); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "of "+want.of+" ") || !strings.Contains(err.Error(), "is -7e+06") {
			t.Errorf("%v", err)
		}
	}
}
