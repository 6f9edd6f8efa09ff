package segments

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Tags are read as segments: those of odd numbers continue the tag before, and nothing else.
func TestEach(t *testing.T) {
	for _, c := range []struct {
		tags []int32
		want []Segment
	}{
		{nil, nil},
		{[]int32{0, 1, 1, 0, 4, 2, 3}, []Segment{{0, 2, 0}, {3, 3, 0}, {4, 4, 2}, {5, 6, 1}}},
		// no output: what continues nothing begins
		{[]int32{1, 3, 0, 3}, []Segment{{0, 0, 0}, {1, 1, 1}, {2, 2, 0}, {3, 3, 1}}},
	} {
		var got []Segment
		Each(c.tags, func(s Segment) { got = append(got, s) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%v are %v, want %v", c.tags, got, c.want)
		}
	}
}

// Tags that continue another label, begin a sequence with a continuation, are unknown or make a segment too long are no
// output, and score −∞.
func TestValid(t *testing.T) {
	θ := new(structured.Potentials)
	offsets := []int{0, 4}
	θ.Reshape(Form(5, 3, Optional{Ends: true}), offsets, func(string) []int { return offsets })
	for k := range θ.Parts {
		clear(θ.Parts[k].Values)
	}
	for _, c := range []struct {
		tags []int32
		want bool
	}{
		{[]int32{0, 1, 1, 4}, true},
		{[]int32{0, 1, 1, 1}, false}, // 4 of at most 3 positions
		{[]int32{0, 1, 3, 4}, false},
		{[]int32{1, 1, 4, 4}, false},
		{[]int32{4, 4, 4, 5}, false}, // there is no tag 5
		{[]int32{4, -1, 4, 4}, false},
	} {
		if got := ShapeOf(θ.Parts).Valid(c.tags); got != c.want || math.IsInf(θ.Score(0, c.tags), -1) == c.want {
			t.Errorf("%v: valid %v, score %g", c.tags, got, θ.Score(0, c.tags))
		}
	}
}
