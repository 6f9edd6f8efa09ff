package cudatest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
)

// ChainData draws a data set of chains of the given lengths with random labels and no inputs.
func ChainData(rng *rand.Rand, labels int, lengths ...int) *structured.Dataset {
	names := make([]string, labels)
	for y := range names {
		names[y] = fmt.Sprint(y)
	}
	set := &structured.Dataset{Name: "test", Offsets: []int{0}, Alphabet: structured.NewAlphabet(names...)}
	for _, t := range lengths {
		set.Offsets = append(set.Offsets, set.Positions()+t)
	}
	for range set.Positions() {
		set.Labels = append(set.Labels, int32(rng.IntN(labels)))
	}
	return set
}

// RandomData draws a data set of chains of the given lengths with dense features, discrete inputs, characters of words
// and attributes.
func RandomData(rng *rand.Rand, input graph.Input, labels int, lengths ...int) *structured.Dataset {
	d := &structured.Dataset{Name: "random", Offsets: []int{0}, Dim: input.Dim}
	for _, n := range lengths {
		d.Offsets = append(d.Offsets, d.Positions()+n)
	}
	for range d.Positions() {
		d.Labels = append(d.Labels, int32(rng.IntN(labels)))
		d.Features = append(d.Features, Vector(rng, input.Dim, 1)...)
		for _, v := range input.Vocab {
			d.Ids = append(d.Ids, int32(rng.IntN(v)))
		}
	}
	if input.Characters > 0 {
		d.Characters = &structured.Segments{Offsets: []int{0}, Ids: []int32{}}
		for range d.Positions() {
			for range [...]int{0, 1, 1, 2, 4, 7}[rng.IntN(6)] {
				d.Characters.Ids = append(d.Characters.Ids, int32(rng.IntN(input.Characters)))
			}
			d.Characters.Offsets = append(d.Characters.Offsets, len(d.Characters.Ids))
		}
	}
	if input.Attributes > 0 {
		d.Attributes = SparseInputs(rng, d.Positions(), input.Attributes, 6, true)
	}
	for range input.Vocab {
		d.Vocab = append(d.Vocab, structured.NewAlphabet())
	}
	return d
}

// SparseCase draws a data set with attributes of positions (nodes) and of transitions (edges) and returns it with a
// linear scorer for it.
func SparseCase(t testing.TB, rng *rand.Rand, labels, nodes, edges int, kind string, values bool,
	lengths ...int) (*structured.Dataset, *sparse.Linear) {
	set := ChainData(rng, labels, lengths...)
	set.Attributes = SparseInputs(rng, set.Positions(), nodes, 40, values)
	if edges > 0 {
		set.EdgeAttributes = SparseInputs(rng, set.Positions(), edges, 3, values)
		for _, p := range set.Offsets[:set.Len()] { // the first position of a chain has none
			if p == set.Positions() {
				continue
			}
			x := set.EdgeAttributes
			lo, hi := x.Offsets[p], x.Offsets[p+1]
			x.Index = slices.Delete(x.Index, lo, hi)
			if values {
				x.Value = slices.Delete(x.Value, lo, hi)
			}
			for q := p + 1; q < len(x.Offsets); q++ {
				x.Offsets[q] -= hi - lo
			}
		}
	}
	net, err := sparse.NewChain(nodes, edges, labels, kind)
	if err != nil {
		t.Fatal(err)
	}
	return set, net
}

// SparseInputs draws up to most attributes for each position; attributes with low numbers are frequent.
func SparseInputs(rng *rand.Rand, positions, attributes, most int, values bool) *structured.Sparse {
	x := &structured.Sparse{Offsets: []int{0}}
	for range positions {
		for range rng.IntN(most + 1) {
			u := rng.Float64()
			x.Index = append(x.Index, int32(float64(attributes)*u*u*u))
			if values {
				x.Value = append(x.Value, float32(rng.NormFloat64()))
			}
		}
		x.Offsets = append(x.Offsets, len(x.Index))
	}
	return x
}
