package formats

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

// Pairs of archives that have a fault are left out, with their features, words and links; the others are what they are
// without them.
func TestBadPairsOfArchivesAreLeftOut(t *testing.T) {
	file := func(examples ...int) []byte {
		var features []float32
		var sizes, links []int32
		var words []string
		for k, e := range examples {
			n, m := e%2+1, 2
			for row := range n * m {
				features = append(features, float32(e), float32(row))
			}
			if e == 1 {
				features[len(features)-1] = float32(math.NaN())
			}
			sizes = append(sizes, int32(n), int32(m))
			links = append(links, int32(k), 0, map[bool]int32{true: 7, false: 1}[e == 3], 1)
			for w := range n + m {
				words = append(words, strings.Repeat("x", e+1)+string(rune('a'+w)))
			}
		}
		var b bytes.Buffer
		err := arrays.WriteNPZ(&b, func(n arrays.NPZWriter) error {
			for _, err := range []error{
				arrays.Add(n, "features", features, len(features)/2, 2), arrays.Add(n, "sizes", sizes, len(sizes)/2, 2),
				arrays.Add(n, "links", links, len(links)/4, 4), n.AddText("words", words),
			} {
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	read := func(content []byte, say *remarks.Remarks, unlabeled bool) (*structured.Dataset, error) {
		return Find(NPZ).Read(bytes.NewReader(content), "p.npz",
			Options{Pairs: &alignments.Paths, Remarks: say, Unlabeled: unlabeled})
	}
	for _, unlabeled := range []bool{false, true} {
		say := remarks.New(true)
		got, err := read(file(0, 1, 2, 3, 4), say, unlabeled)
		if err != nil {
			t.Fatal(err)
		}
		kept := []int{0, 2, 4}
		if unlabeled { // whose links are no matter
			kept = []int{0, 2, 3, 4}
		}
		if len(say.Reasons()) != 5-len(kept) || got.Len() != len(kept) || got.IDs[1] != "2" {
			t.Fatalf("left out %q of %v", say.Reasons(), got.IDs)
		}
		want, err := read(file(kept...), nil, unlabeled)
		if err != nil {
			t.Fatal(err)
		}
		a, b := got.Table(alignments.PairRows), want.Table(alignments.PairRows)
		if !slices.Equal(got.Columns[0], want.Columns[0]) || !slices.Equal(got.Labels, want.Labels) ||
			!slices.Equal(got.Costs, want.Costs) || !slices.Equal(a.Offsets, b.Offsets) ||
			!slices.Equal(a.Attributes.Value, b.Attributes.Value) {
			t.Errorf("unlabeled %v: %+v, expected %+v", unlabeled, got, want)
		}
	}
	say := remarks.New(true) // a bad pair takes no links of others
	if got, err := read(file(0, 1, 2), say, true); err != nil || got.Len() != 2 ||
		got.Labels == nil || len(say.Reasons()) != 1 {
		t.Errorf("%v, %+v, left out %q", err, got, say.Reasons())
	}
	if _, err := read(file(1, 3), remarks.New(true), false); !structured.IsBadInput(err) {
		t.Errorf("nothing is left: %v", err)
	}
}
