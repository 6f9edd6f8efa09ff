package formats

import (
	"bytes"
	"cmp"
	"io"
	"strconv"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/structured"
)

// Pairs is the name of the format.
const Pairs = "pairs"

// Text with a sentence pair per line, source ||| target, and its links in a third field or in a file beside it.
var _ = builtin(Format{
	Name:       Pairs,
	Holds:      "a sentence pair per line: source ||| target ||| links",
	Tasks:      []string{"align"},
	Takes:      []string{"max-words", "links", "bitext", "encoder", "features", "template", "hash-bits", "min-count"},
	Extensions: []string{".pairs"},
	Starts: func(start []byte) bool {
		line, _, _ := bytes.Cut(start, []byte{'\n'})
		return alignments.IsPair(string(line))
	},
	Lines: true,
	Read: func(r io.Reader, path string, o Options) (*structured.Dataset, error) {
		reader := alignments.Reader{Unlabeled: o.Unlabeled, Line: o.Line, Remarks: o.Remarks}
		var c *alignments.Corpus
		var err error
		if o.Links == "" {
			c, err = reader.Read(r, path)
		} else {
			err = Open(o.Links, func(links io.Reader) error {
				var err error
				c, err = reader.ReadWithLinks(r, path, links, o.Links)
				return err
			})
		}
		if err != nil {
			return nil, err
		}
		return linked(c, nil, o)
	},
})

// mostPairs bounds the pairs of words of one sentence pair, each of which gets attributes and a score.
const mostPairs = 1 << 22

// linked makes the data set of a corpus, without the pairs that have a fault.
func linked(c *alignments.Corpus, faults map[int]error, o Options) (*structured.Dataset, error) {
	check := func(i int) error {
		if err := faults[i]; err != nil {
			return err
		}
		if n, m := c.Size(i); n > mostPairs/m {
			return structured.BadInput("%s: %d source and %d target words, expected at most %d pairs of them",
				c.Where(i), n, m, mostPairs)
		}
		return nil
	}
	var keep []int
	var first error
	for i := range c.Len() {
		err := check(i)
		if err == nil {
			keep = append(keep, i)
			continue
		}
		first = cmp.Or(first, err)
		if err = o.Remarks.Bad(err); err != nil {
			return nil, err
		}
	}
	of := *cmp.Or(o.Pairs, &alignments.Matchings)
	switch len(keep) {
	case c.Len():
		return c.DatasetOf(of), nil
	case 0:
		return nil, first
	}
	d := c.Some(keep).DatasetOf(of)
	for _, i := range keep { // they keep their numbers
		d.IDs = append(d.IDs, strconv.Itoa(i))
	}
	return d, nil
}

// ReadBitext reads sentence pairs of which only the words count.
func ReadBitext(path string) (c *alignments.Corpus, err error) {
	err = Open(path, func(r io.Reader) error {
		c, err = alignments.Reader{Unlabeled: true}.Read(r, path)
		return err
	})
	return c, err
}
