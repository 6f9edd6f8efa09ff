package review

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/predictions"
)

// Wrong are predicted links that are not possible, and sure links that were missed; possible links may be predicted or
// not.
func TestLinks(t *testing.T) {
	c := &alignments.Corpus{
		Name: "x", Words: []string{"a", "b", "A", "B", "C"}, Offsets: []int{0, 5}, Sources: []int{2},
		Links: []alignments.Link{{Source: 0, Target: 0, Sure: true}, {Source: 1, Target: 1, Sure: true},
			{Source: 1, Target: 2}}, LinksAt: []int{0, 3},
	}
	d := c.Dataset()
	for _, each := range []struct {
		y     []int32 // of each source word 1 + its target word
		wrong []string
		right int
	}{
		{[]int32{1, 2}, nil, 2},
		{[]int32{1, 3}, []string{"missed 1-1 b B"}, 2},
		{[]int32{2, 3}, []string{"missed 0-0 a A", "predicted 0-1 a B", "missed 1-1 b B"}, 1},
		{[]int32{1, 0}, []string{"missed 1-1 b B"}, 1},
	} {
		var to Review
		p := &predictions.Prediction{Output: predictions.Output{Labels: each.y}, Margins: []float32{1, 2, 3, 4, 5, 6}}
		Links(alignments.Matchings).Add(d, 0, p, &to)
		var wrong []string
		for _, e := range to.Examples {
			for _, part := range e.Parts {
				what := "predicted " + part.Predicted
				if part.Predicted == "" {
					what = "missed " + part.Gold
				}
				wrong = append(wrong, what+" "+part.Text)
			}
		}
		if !slices.Equal(wrong, each.wrong) || to.Chosen.Right != each.right || to.Gold != 2 {
			t.Errorf("%v: wrong %q, %d right of %d, want %q, %d of 2", each.y, wrong, to.Chosen.Right,
				to.Gold, each.wrong, each.right)
		}
	}
}
