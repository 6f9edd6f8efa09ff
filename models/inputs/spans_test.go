package inputs

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/structured"
)

// Spans have the attributes that the template gives them, and pairs whose last word is before the first have
// none; arcs have all.
func TestRowsOfSpansAndArcs(t *testing.T) {
	// of three words, in the order of the first
	rows := &arcs.Rows{Offsets: []int{0, 1, 2, 4, 5, 6, 7, 8, 9, 10}, Index: []int32{0, 1, 2, 22, 3, 4, 5, 6, 7, 8}}
	of := func(x *structured.Sparse, row int) []int32 { return x.Index[x.Offsets[row]:x.Offsets[row+1]] }
	spans, all := &structured.Sparse{Offsets: []int{0}}, &structured.Sparse{Offsets: []int{0}}
	for range 2 { // sentences
		addSpans(spans, rows, 3)
		addArcs(all, rows, 3)
	}
	for sentence := range 2 {
		for row, want := range [][]int32{{0}, {1}, {2, 22}, {}, {4}, {5}, {}, {}, {8}} {
			if got := of(spans, 9*sentence+row); !slices.Equal(got, want) {
				t.Errorf("sentence %d: the span of row %d has attributes %v, expected %v", sentence, row, got, want)
			}
		}
		for row, want := range [][]int32{{0}, {1}, {2, 22}, {3}, {4}, {5}, {6}, {7}, {8}} {
			if got := of(all, 9*sentence+row); !slices.Equal(got, want) {
				t.Errorf("sentence %d: the arc of row %d has attributes %v, expected %v", sentence, row, got, want)
			}
		}
	}
}

// Data miss the inputs of pairs unless they have attributes of pairs.
func TestPairsMissing(t *testing.T) {
	pairs := func(x *structured.Sparse) *structured.Dataset {
		return &structured.Dataset{Tables: []*structured.Table{{Name: structured.Pairs, Attributes: x}}}
	}
	for k, d := range []*structured.Dataset{{}, pairs(nil), pairs(&structured.Sparse{Offsets: []int{0}})} {
		if missing := (&Pairs{}).Missing(d) != ""; missing != (k < 2) {
			t.Errorf("data %d: missing %v", k, missing)
		}
	}
}
