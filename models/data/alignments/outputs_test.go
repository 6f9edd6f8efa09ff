package alignments_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/monotone"
)

// The path that stands for links is the best of all paths, by enumeration: in sure links, then in pairs without a link,
// then in the distance from the diagonal.
func TestPath(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 8))
		n, m := 1+r.IntN(4), 1+r.IntN(4)
		kinds, links := map[[2]int]int{}, []alignments.Link{} // 1: possible, 2: sure
		for i := range n {
			for j := range m {
				if kind := r.IntN(4) - 1; kind > 0 {
					kinds[[2]int{i, j}] = kind
					links = append(links, alignments.Link{Source: int32(i), Target: int32(j), Sure: kind == 2})
				}
			}
		}
		worth := func(y []int32) (all [3]int) {
			monotone.Each(y, func(i, j int) {
				switch kinds[[2]int{i, j}] {
				case 2:
					all[0]++
				case 0:
					all[1]--
				}
				distance := (2*i+1)*m - (2*j+1)*n
				all[2] -= max(distance, -distance)
			})
			return all
		}
		got := alignments.Path(n, m, links)
		if !monotone.Valid(got, n, m) {
			t.Fatalf("%v is no path through %d by %d pairs", got, n, m)
		}
		var θ structured.Potentials
		monotone.Alignment{}.Resize(&θ, []int{n}, []int{m})
		monotone.Alignment{}.Each(&θ, 0, func(y []int32) {
			if a, b := worth(got), worth(y); slices.Compare(a[:], b[:]) < 0 {
				t.Fatalf("%v of %v; path %v is worth %v, and %v is worth %v", kinds, links, got, a, y, b)
			}
		})
	}
}

// Links that are a path stay as they are, in data sets that are made of them, too.
func TestPathsOfLinks(t *testing.T) {
	c := read(t, alignments.Reader{}, "a b c ||| x y ||| 0-0 1-0 2-1\nb ||| x y z ||| 0-0 0-1 0-2\n")
	d := c.DatasetOf(alignments.Paths)
	if err := (monotone.Alignment{}).CheckData(d); err != nil {
		t.Fatal(err)
	}
	for i := range c.Len() {
		if got := alignments.OfPath(d.Gold(i)); !slices.Equal(got, c.LinksOf(i)) ||
			!slices.Equal(alignments.GoldLinks(d, i), c.LinksOf(i)) {
			t.Errorf("links %v, expected %v", got, c.LinksOf(i))
		}
		n, m := alignments.Size(d, i)
		if wantN, wantM := c.Size(i); n != wantN || m != wantM {
			t.Errorf("pair %d has %d by %d words", i, n, m)
		}
	}
}
