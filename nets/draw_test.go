package nets_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Examples that are drawn have all that a network reads, and nothing that it does not, and numbers are those of its
// vocabularies.
func TestDraw(t *testing.T) {
	lengths := []int{30, 0, 45}
	for name, c := range map[string]struct {
		config nets.Config
		in     graph.Input
	}{
		"dense": {nets.Config{Net: "mlp", Hidden: []int{3}}, graph.Input{Dim: 2}},
		"words": {nets.Config{Net: "embed", Channels: []int{4}, Embed: []int{3, 2}}, graph.Input{Vocab: []int{4, 2}}},
		"letters": {nets.Config{Net: "deep", Recurrent: []int{2}, CharEmbed: 2, CharChannels: 2, AttributeUnits: 2},
			graph.Input{Vocab: []int{4}, Characters: 6, Attributes: 9}},
	} {
		net := mustNew(t, c.config, c.in, 3)
		d := net.Draw(rand.New(rand.NewPCG(1, 2)), lengths...)
		if !slices.Equal(d.Offsets, []int{0, 30, 30, 75}) || d.Dim != c.in.Dim || len(d.Features) != 75*c.in.Dim ||
			len(d.Ids) != 75*len(c.in.Vocab) || len(d.Vocab) != len(c.in.Vocab) {
			t.Errorf("%s: offsets %v, %d features, %d ids", name, d.Offsets, len(d.Features), len(d.Ids))
		}
		for k, size := range c.in.Vocab {
			seen := map[int32]bool{}
			for at := range 75 {
				seen[d.Ids[at*len(c.in.Vocab)+k]] = true
			}
			if len(seen) != size || !seen[0] || !seen[int32(size-1)] {
				t.Errorf("%s: %d of %d numbers of vocabulary %d are drawn", name, len(seen), size, k)
			}
		}
		if (d.Characters != nil) != (c.in.Characters > 0) || (d.Attributes != nil) != (c.in.Attributes > 0) {
			t.Errorf("%s: characters %v, attributes %v", name, d.Characters, d.Attributes)
		}
		if d.Characters != nil {
			shortest, longest := 99, 0
			for at := range 75 {
				n := d.Characters.Offsets[at+1] - d.Characters.Offsets[at]
				shortest, longest = min(shortest, n), max(longest, n)
			}
			if shortest != 1 || longest != 9 || slices.Min(d.Characters.Ids) != 0 || slices.Max(d.Characters.Ids) != 5 ||
				len(d.Characters.Offsets) != 76 {
				t.Errorf("%s: words of %d to %d letters", name, shortest, longest)
			}
			checkDrawn(t, d.Attributes, 75, 9)
		}
		if again := net.Draw(rand.New(rand.NewPCG(1, 2)), lengths...); !slices.Equal(again.Ids, d.Ids) ||
			!slices.Equal(again.Features, d.Features) {
			t.Errorf("%s: one seed draws other inputs", name)
		}
	}
}

// checkDrawn checks that rows have none to 19 attributes.
func checkDrawn(t *testing.T, x *structured.Sparse, rows, attributes int) {
	t.Helper()
	least, most := 99, 0
	for row := range rows {
		n := x.Offsets[row+1] - x.Offsets[row]
		least, most = min(least, n), max(most, n)
	}
	if len(x.Offsets) != rows+1 || least > 1 || most < 17 || most > 19 || slices.Min(x.Index) != 0 ||
		int(slices.Max(x.Index)) != attributes-1 {
		t.Errorf("%d rows of %d to %d attributes", len(x.Offsets)-1, least, most)
	}
}
