package alignments_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/structured"
)

// linked returns the data set of one pair of three by three words.
func linked(links ...alignments.Link) *structured.Dataset {
	c := &alignments.Corpus{Name: "x.pairs"}
	c.Add([]string{"a", "b", "c"}, []string{"d", "e", "f"}, append([]alignments.Link{}, links...))
	return c.Dataset()
}

// Sure links are kept, possible ones limit a word, and words without links may have any; sure links that share a word
// are refused.
func TestKeepLinks(t *testing.T) {
	d := linked(alignments.Link{0, 2, true}, alignments.Link{1, 0, false}, alignments.Link{1, 1, false})
	was := d.Labels
	if err := alignments.KeepLinks(d, nil); err != nil {
		t.Fatal(err)
	}
	single := [1]int32{}
	for s, want := range [][]int32{{3}, {0, 1, 2}, nil} {
		if got := d.GoldOf(0).Possible(s, &single); !reflect.DeepEqual(got, want) {
			t.Errorf("source word %d may have %v, want %v", s, got, want)
		}
	}
	if !reflect.DeepEqual(was, []int32{3, 0, 0}) {
		t.Errorf("the gold output of the data became %v", was)
	}
	for want, d := range map[string]*structured.Dataset{
		"source word 0 has sure links to target words 1 and 2": linked(alignments.Link{0, 1, true},
			alignments.Link{0, 2, true}),
		"target word 2 has sure links to source words 0 and 1": linked(alignments.Link{0, 2, true},
			alignments.Link{1, 2, true}),
		"no links to keep; expected a third field of links such": (&alignments.Corpus{Name: "x",
			Offsets: []int{0}}).Dataset(),
	} {
		if err := alignments.KeepLinks(d, nil); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
