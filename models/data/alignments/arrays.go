package alignments

import (
	"io"

	"github.com/dsp-go/dsp/models/data/arrays"
)

// ReadArrays reads pairs with dense features from an npz archive (see arrays.Pairs), and what is wrong with those that
// are to be left out.
func ReadArrays(r io.Reader, name string, o arrays.Pairs) (c *Corpus, faults map[int]error, err error) {
	o.Sizes = nil
	a, err := o.Read(r, name)
	if err != nil {
		return nil, nil, err
	}
	c = &Corpus{Name: name, Words: a.Words, Features: a.Features, Dim: a.Dim, Offsets: []int{0}}
	for i, size := range a.Sizes {
		c.Offsets = append(c.Offsets, c.Offsets[i]+size[0]+size[1])
		c.Sources = append(c.Sources, size[0])
	}
	if a.Links == nil {
		return c, a.Faults, nil
	}
	links := make([][]Link, c.Len())
	for _, l := range a.Links {
		links[l[0]] = append(links[l[0]], Link{int32(l[1]), int32(l[2]), l[3] == 1})
	}
	for _, of := range links {
		c.AddLinks(of)
	}
	return c, a.Faults, nil
}

// ReadFeatures reads dense features of the pairs of c from an npz archive beside the text. dim is the number of
// features per pair of words if the training data determines it, else 0.
func (c *Corpus) ReadFeatures(r io.Reader, name string, dim int) error {
	sizes := make([][2]int, c.Len())
	for i := range sizes {
		sizes[i][0], sizes[i][1] = c.Size(i)
	}
	a, err := arrays.Pairs{Dim: dim, Sizes: sizes}.Read(r, name)
	if err != nil {
		return err
	}
	c.Features, c.Dim = a.Features, a.Dim
	return nil
}
