package training

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// A column that is far larger than the others is found, and its largest number.
func TestOddFeatures(t *testing.T) {
	for _, c := range []struct {
		features []float32
		want     string // empty: nothing is odd
	}{
		{[]float32{1, 2, 3, 4, 5, 6}, ""},
		{[]float32{1, 2000, 3, -4000, 5, 600}, ""},
		{[]float32{1, 2, 3, -4e6, 5, 6}, "column 1 of the features has numbers of about 2.3e+06 where the usual column has 3.4, and features[1,1] is -4e+06"},
		{[]float32{1, 2, 1e30, 4, 5, 6}, "features[1,0] is 1e+30"},
		{[]float32{0, 0, 0, 0, 0, 0}, ""},
		{[]float32{0, 3, 0, 4, 0, 5}, ""},
		{[]float32{3e6, 2e6, 1e6, 4e6, 5e6, 6e6}, "column 1 of the features has numbers of about 4.3e+06 where numbers of about 1 train well"},
	} {
		odd, found := oddFeatures(&structured.Dataset{Name: "x.npz", Dim: 2, Features: c.features, Offsets: []int{0, 3}})
		if found != (c.want != "") || found && (!strings.Contains(odd.String(), c.want) || !strings.Contains(odd.String(), "--standardise")) {
			t.Errorf("%v: %v, %s; expected %q", c.features, found, odd, c.want)
		}
	}
	if _, found := oddFeatures(&structured.Dataset{}); found {
		t.Error("odd features where there are none")
	}
}

// A run that came nowhere near its optimum names columns that are not near 1, also where all are alike.
func TestLargeFeatures(t *testing.T) {
	for _, c := range []struct {
		features []float32
		want     string
	}{
		{[]float32{1, 2, 3, 4, 5, 6}, ""},
		{[]float32{100, 120, 110, 140, 105, 106}, "; column 1 of the features has numbers of about 1.2e+02, which --standardise scales"},
		{nil, ""},
	} {
		if got := largeFeatures(&structured.Dataset{Dim: 2, Features: c.features}); got != c.want {
			t.Errorf("%v: %q, expected %q", c.features, got, c.want)
		}
	}
}
