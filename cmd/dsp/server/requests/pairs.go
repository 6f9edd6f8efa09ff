package requests

import (
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/structured"
)

// pairs reads sentence pairs, whose words are to be linked.
type pairs struct {
	limits Limits
	links  alignments.Outputs
}

// pair is the content of an example.
type pair struct {
	source, target []string
	n, m           int
	features       []float32         // [n·m×Dim], or nil
	links          []alignments.Link // that are known, or nil
}

func (r *pairs) Inputs() []Input { return []Input{{Name: "example", Kind: Objects}} }

func (r *pairs) Sample() string { return `{"source": ["das", "Haus"], "target": ["the", "house"]}` }

func (r *pairs) Members() []string { return []string{"source", "target", "links"} }

func (r *pairs) Known() string { return `sure "links", such as [[0, 1]]` }

func (r *pairs) Example(o *Object) (Example, error) {
	if err := o.only(r); err != nil {
		return Example{}, err
	}
	for name, side := range map[string][]string{"source": o.Source, "target": o.Target} {
		if len(side) == 0 {
			return Example{}, o.missing(name+" words", r.Sample())
		}
		if k := slices.Index(side, ""); k >= 0 {
			return Example{}, structured.BadInput("%s[%d] is empty, expected a word", name, k)
		}
		if err := r.limits.short(len(side), true, name+" words"); err != nil {
			return Example{}, err
		}
	}
	p := &pair{source: o.Source, target: o.Target, n: len(o.Source), m: len(o.Target)}
	return p.example(o), p.know(o.Links)
}

func (p *pair) example(o *Object) Example {
	e := o.example(p.n+p.m, p)
	e.Extent.Pairs = p.n * p.m
	return e
}

// know makes links of an object those that are known, unless they are nil.
func (p *pair) know(links [][]int) error {
	if links != nil {
		p.links = []alignments.Link{}
	}
	for k, l := range links {
		if len(l) != 2 || min(l[0], l[1]) < 0 || l[0] >= p.n || l[1] >= p.m {
			return structured.BadInput("links[%d] is %v, expected a source word from 0 to %d and a target word from 0 to %d", k, l, p.n-1, p.m-1)
		}
		p.links = append(p.links, alignments.Link{Source: int32(l[0]), Target: int32(l[1]), Sure: true})
	}
	return nil
}

// Dataset implements Reader. All examples have links, or none has.
func (r *pairs) Dataset(all []Example) (*structured.Dataset, error) {
	c := &alignments.Corpus{Name: dataName}
	for _, e := range all {
		p := e.content.(*pair)
		c.Add(p.source, p.target, slices.Clone(p.links))
	}
	return named(c.DatasetOf(r.links), all), nil
}

// pairArrays reads dense features of pairs of items.
type pairArrays struct {
	dim    int
	limits Limits
	links  alignments.Outputs
}

// pairDim returns the number of features of a pair that a model reads.
func pairDim(m *models.Model) int {
	if own, ok := m.Own.(*inputs.Pairs); ok {
		return own.Dim
	}
	return 0
}

func (r *pairArrays) Inputs() []Input { return []Input{{Name: "example", Kind: Objects}} }

func (r *pairArrays) Sample() string {
	return fmt.Sprintf(`{"pair_features": [[[…], […]], [[…], […]]]}, a row for each source item and in it a list of %d numbers for each target item`, r.dim)
}

func (r *pairArrays) Members() []string { return []string{"pair_features", "links"} }

func (r *pairArrays) Known() string { return `sure "links", such as [[0, 1]]` }

func (r *pairArrays) Example(o *Object) (Example, error) {
	if err := o.only(r); err != nil {
		return Example{}, err
	}
	if len(o.PairFeatures) == 0 || len(o.PairFeatures[0]) == 0 {
		return Example{}, o.missing("pair_features", r.Sample())
	}
	p := &pair{n: len(o.PairFeatures), m: len(o.PairFeatures[0])}
	if side := max(p.n, p.m); side > r.limits.Square {
		return Example{}, structured.BadInput("%d items on a side, expected at most %d", side, r.limits.Square)
	}
	for i, row := range o.PairFeatures {
		if len(row) != p.m {
			return Example{}, structured.BadInput("pair_features[%d] has %d target items, expected %d as pair_features[0] has", i, len(row), p.m)
		}
		var err error
		if p.features, err = matrix(p.features, row, r.dim, fmt.Sprintf("pair_features[%d]", i), "pair"); err != nil {
			return Example{}, err
		}
	}
	return p.example(o), p.know(o.Links)
}

func (r *pairArrays) Dataset(all []Example) (*structured.Dataset, error) {
	c := &alignments.Corpus{Name: dataName, Dim: r.dim, Offsets: []int{0}}
	for i, e := range all {
		p := e.content.(*pair)
		c.Features = append(c.Features, p.features...)
		c.Offsets, c.Sources = append(c.Offsets, c.Offsets[i]+p.n+p.m), append(c.Sources, p.n)
		if p.links != nil {
			c.AddLinks(slices.Clone(p.links))
		}
	}
	return named(c.DatasetOf(r.links), all), nil
}
