package chains

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func stepsOf(labels int, outputs ...[]int32) *Steps {
	return NewSteps(labels, slices.Values(outputs))
}

// Steps are those of the data, and a label that nothing follows there may be followed by all. They come back from
// numbers.
func TestSteps(t *testing.T) {
	s := stepsOf(3, []int32{0, 1, 0, 1}, []int32{1, 2}, nil, []int32{2})
	if want := []int32{1, 3, 5, 6, 7, 8}; !slices.Equal(s.Pairs, want) {
		t.Errorf("pairs %v, want %v", s.Pairs, want)
	}
	for _, test := range []struct{ i, j, k, want int32 }{{0, 1, 0, 0}, {1, 0, 1, 1}, {0, 1, 2, -1}, {2, 0, 1, -1}} {
		if got := s.Triple(s.Pair(test.i, test.j), test.k); got != int(test.want) {
			t.Errorf("triple %d %d %d is %d, want %d", test.i, test.j, test.k, got, test.want)
		}
	}
	if s.Pair(0, 0) != -1 || s.Breaks([]int32{1, 2, 2, 0, 0, 1}) != 4 || s.Breaks([]int32{2, 1}) != 0 {
		t.Error("steps that the data do not have are allowed, or others not")
	}
	packed := s.Pack()
	back, err := UnpackSteps(packed)
	if err != nil || !reflect.DeepEqual(back, s) {
		t.Fatalf("%v: %+v comes back as %+v", err, s, back)
	}
	if other := stepsOf(3, []int32{0, 1, 2}); !(Second{s}).Same(Second{back}) || (Second{s}).Same(Second{other}) ||
		(Second{s}).Same(Chain{}) {
		t.Error("steps are compared wrongly")
	}
	if _, err := structured.Common(SecondForm(s),
		SecondForm(stepsOf(3, []int32{1, 0, 1, 0}, []int32{2, 1}, []int32{0, 2}))); !structured.IsBadInput(err) {
		t.Errorf("potentials of other steps are one form: %v", err)
	}
	for at := range packed { // no number may be anything
		for _, x := range []int32{-1, 1 << 20, math.MaxInt32} { // no memory for as many labels is asked for
			broken := slices.Clone(packed)
			broken[at] = x
			if _, err := UnpackSteps(broken); !structured.IsBadInput(err) {
				t.Errorf("%v: %v", broken, err)
			}
		}
	}
	for n := range packed {
		if _, err := UnpackSteps(packed[:n]); !structured.IsBadInput(err) {
			t.Errorf("the first %d numbers: %v", n, err)
		}
	}
}
