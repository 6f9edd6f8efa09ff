package formats

import (
	"bytes"
	"cmp"
	"io"

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
		return linked(c, o)
	},
})

// mostPairs bounds the pairs of words of one sentence pair, each of which gets attributes and a score.
const mostPairs = 1 << 22

// linked makes the data set of a corpus.
func linked(c *alignments.Corpus, o Options) (*structured.Dataset, error) {
	for i := range c.Len() {
		if n, m := c.Size(i); n > mostPairs/m {
			return nil, structured.BadInput("%s: %d source and %d target words, expected at most %d pairs of them", c.Where(i), n, m, mostPairs)
		}
	}
	return c.DatasetOf(*cmp.Or(o.Pairs, &alignments.Matchings)), nil
}

// ReadBitext reads sentence pairs of which only the words count.
func ReadBitext(path string) (c *alignments.Corpus, err error) {
	err = Open(path, func(r io.Reader) error {
		c, err = alignments.Reader{Unlabeled: true}.Read(r, path)
		return err
	})
	return c, err
}
