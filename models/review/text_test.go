package review

import (
	"strings"
	"testing"
)

// The list of errors says how many outputs are wrong, and in which order it shows them; where none is, it says that.
func TestErrorTableCounts(t *testing.T) {
	lowest := 0.25
	for want, r := range map[string]Review{
		"none of 3 outputs is wrong\n":                                       {All: 3},
		"1 of 3 outputs are wrong; first those with the most mistakes:\n":    {All: 3, Wrong: 1},
		"2 of 3 outputs are wrong; first those in which the model was most ": {All: 3, Wrong: 2, Probabilities: true},
		"3 of 3 outputs are wrong; first those with the lowest overlap:\n\nx.json, example 7  overlap 0.2500": {
			All: 3, Wrong: 3, byValue: true, Probabilities: true,
			Examples: []Example{{Where: "x.json, example 7", ID: "7", Measure: "overlap", Value: &lowest}},
		},
	} {
		if got := r.ErrorTable(); !strings.HasPrefix(got, want) || r.Wrong == 0 && got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
