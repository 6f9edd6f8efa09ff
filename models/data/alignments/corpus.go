// Package alignments holds sentence pairs with word alignments: it reads and writes them in Pharaoh format, makes data
// sets of them, and computes the alignment error rate.
//
// A link joins a source word to a target word. Annotators mark links as sure, or as possible where they doubt or
// disagree. Every sure link counts as possible, too (Och and Ney 2003).
package alignments

import (
	"strconv"
)

// Corpus holds sentence pairs. Pair i has words Offsets[i] to Offsets[i+1]-1, of which the first Sources[i] are the
// source words.
type Corpus struct {
	Name    string   // of the file or generator, for messages
	Words   []string // the source words, then the target words of each pair; nil if only Features describe the pairs
	Offsets []int    // [pairs+1]
	Sources []int    // [pairs] n, the number of source words
	Lines   []int    // [pairs] the line of each pair in its file, or nil

	Links   []Link // of all pairs, sorted by source and target word within a pair; nil if unknown
	LinksAt []int  // [pairs+1] where the links of each pair begin in Links; nil if unknown

	Features []float32 // [Σ n·m × Dim] dense features of each source word with each target word, or nil
	Dim      int
}

// Len returns the number of pairs.
func (c *Corpus) Len() int { return len(c.Sources) }

// Size returns n and m, the numbers of source and target words of pair i.
func (c *Corpus) Size(i int) (n, m int) {
	return c.Sources[i], c.Offsets[i+1] - c.Offsets[i] - c.Sources[i]
}

// Source returns the source words of pair i. It shares memory with c.
func (c *Corpus) Source(i int) []string { return c.Words[c.Offsets[i]:][:c.Sources[i]] }

// Target returns the target words of pair i. It shares memory with c.
func (c *Corpus) Target(i int) []string {
	return c.Words[c.Offsets[i]+c.Sources[i] : c.Offsets[i+1]]
}

func (c *Corpus) Known() bool { return c.LinksAt != nil }

// LinksOf returns the links of pair i, or nil if they are unknown. It shares memory with c.
func (c *Corpus) LinksOf(i int) []Link {
	if !c.Known() {
		return nil
	}
	return c.Links[c.LinksAt[i]:c.LinksAt[i+1]]
}

// Where returns the place of pair i in its file, for messages.
func (c *Corpus) Where(i int) string {
	if c.Lines == nil {
		return c.Name + ", pair " + strconv.Itoa(i)
	}
	return c.Name + ":" + strconv.Itoa(c.Lines[i])
}

func (c *Corpus) Some(pairs []int) *Corpus {
	few := &Corpus{Name: c.Name, Offsets: []int{0}, Dim: c.Dim}
	rows := []int{0} // where the features of each pair begin
	for i := range c.Len() {
		n, m := c.Size(i)
		rows = append(rows, rows[i]+n*m*c.Dim)
	}
	for _, i := range pairs {
		few.Offsets = append(few.Offsets, few.Offsets[len(few.Offsets)-1]+c.Offsets[i+1]-c.Offsets[i])
		few.Sources = append(few.Sources, c.Sources[i])
		if c.Words != nil {
			few.Words = append(few.Words, c.Words[c.Offsets[i]:c.Offsets[i+1]]...)
		}
		if c.Lines != nil {
			few.Lines = append(few.Lines, c.Lines[i])
		}
		if c.Known() {
			few.AddLinks(c.LinksOf(i))
		}
		if c.Features != nil {
			few.Features = append(few.Features, c.Features[rows[i]:rows[i+1]]...)
		}
	}
	return few
}

// Add appends a pair with its links, or with unknown links if links is nil. Either all pairs of a corpus have links or
// none. Add sorts the links in place.
func (c *Corpus) Add(source, target []string, links []Link) {
	if c.Offsets == nil {
		c.Offsets = []int{0}
	}
	c.Words = append(append(c.Words, source...), target...)
	c.Offsets = append(c.Offsets, len(c.Words))
	c.Sources = append(c.Sources, len(source))
	if links != nil {
		c.AddLinks(links)
	}
}

// AddLinks appends the links of the pair that was appended last. Either all pairs of a corpus have links, or none has.
func (c *Corpus) AddLinks(links []Link) {
	if c.LinksAt == nil {
		c.LinksAt = []int{0}
	}
	c.Links = append(c.Links, normalised(links)...)
	c.LinksAt = append(c.LinksAt, len(c.Links))
}
