package alignments

import "github.com/dsp-go/dsp/structured"

// The tables of a data set of sentence pairs. A pair of n by m words owns n·m rows of PairRows, of which row i·m+j is
// source word i with target word j, and n rows of SourceRows. linkRows keeps the gold links as a sparse matrix: a row
// per link, with one entry, whose index is the row of the link's words in PairRows (counted from the start of its
// pair), and whose value is 1 if the link is sure and 0 if it is only possible.
const (
	PairRows   = structured.Pairs
	SourceRows = structured.Sources
	linkRows   = "link"
)

// Dataset returns the corpus as training data for matchings.
func (c *Corpus) Dataset() *structured.Dataset { return c.DatasetOf(Matchings) }

// DatasetOf returns the corpus as training data for outputs. The positions are the n source words, then the m target
// words of each pair. If the links are known, the gold output is that of the links, and the costs, one per row of
// PairRows, are 0 for every link of the annotation, sure or possible, and 1 for any other; without links there are
// neither. Dense features become attributes 0 to Dim−1 of PairRows, with values. The words share memory with c. Links
// have no names, so the alphabet is empty.
func (c *Corpus) DatasetOf(of Outputs) *structured.Dataset {
	count := c.Len()
	d := &structured.Dataset{Name: c.Name, Offsets: c.Offsets, Lines: c.Lines, Outputs: make([]int, count+1),
		Alphabet: structured.NewAlphabet()}
	if c.Words != nil {
		d.Columns, d.ColumnNames = [][]string{c.Words}, []string{wordColumn}
	}
	pairs, sources := make([]int, count+1), make([]int, count+1)
	for i := range count {
		n, m := c.Size(i)
		pairs[i+1], sources[i+1], d.Outputs[i+1] = pairs[i]+n*m, sources[i]+n, d.Outputs[i]+of.Numbers(n, m)
	}
	d.Tables = []*structured.Table{{Name: PairRows, Offsets: pairs, Attributes: c.attributes()},
		{Name: SourceRows, Offsets: sources}}
	if !c.Known() {
		return d
	}
	d.Labels = make([]int32, 0, d.Outputs[count])
	d.Costs, d.CostRows = structured.Ones(pairs[count]), PairRows
	gold := &structured.Sparse{Offsets: make([]int, len(c.Links)+1), Index: make([]int32, len(c.Links)),
		Value: make([]float32, len(c.Links))}
	for i := range count {
		n, m := c.Size(i)
		d.Labels = append(d.Labels, of.Of(n, m, c.LinksOf(i))...)
		for k := c.LinksAt[i]; k < c.LinksAt[i+1]; k++ {
			l := c.Links[k]
			row := int(l.Source)*m + int(l.Target)
			d.Costs[pairs[i]+row] = 0
			gold.Index[k], gold.Offsets[k+1] = int32(row), k+1
			if l.Sure {
				gold.Value[k] = 1
			}
		}
	}
	d.Tables = append(d.Tables, &structured.Table{Name: linkRows, Offsets: c.LinksAt, Attributes: gold})
	return d
}

const wordColumn = "word"

// attributes returns the dense features as a sparse matrix, or nil if there are none.
func (c *Corpus) attributes() *structured.Sparse {
	if c.Features == nil {
		return nil
	}
	rows := len(c.Features) / c.Dim
	x := &structured.Sparse{Offsets: make([]int, rows+1), Index: make([]int32, len(c.Features)), Value: c.Features}
	for r := range rows {
		x.Offsets[r+1] = (r + 1) * c.Dim
		for k := range c.Dim {
			x.Index[r*c.Dim+k] = int32(k)
		}
	}
	return x
}

// Size returns n and m, the numbers of source and target words of example i of a data set that Dataset made.
func Size(d *structured.Dataset, i int) (n, m int) {
	sources := d.Table(SourceRows).Offsets
	n = sources[i+1] - sources[i]
	return n, d.Length(i) - n
}

// GoldLinks returns the gold links of example i of a data set that Dataset made, or nil if they are unknown.
func GoldLinks(d *structured.Dataset, i int) []Link {
	t := d.Table(linkRows)
	if t == nil {
		return nil
	}
	_, m := Size(d, i)
	links := make([]Link, 0, t.Offsets[i+1]-t.Offsets[i])
	for k := t.Offsets[i]; k < t.Offsets[i+1]; k++ {
		row := int(t.Attributes.Index[k])
		links = append(links, Link{int32(row / m), int32(row % m), t.Attributes.Value[k] > 0})
	}
	return links
}

// Of is the inverse of Corpus.Dataset, without the dense features.
func Of(d *structured.Dataset) *Corpus {
	c := &Corpus{Name: d.Name, Words: d.Column(wordColumn), Offsets: d.Offsets, Lines: d.Lines,
		Sources: make([]int, d.Len())}
	known := d.Table(linkRows) != nil
	if known {
		c.LinksAt = []int{0}
	}
	for i := range d.Len() {
		c.Sources[i], _ = Size(d, i)
		if known {
			c.Links = append(c.Links, GoldLinks(d, i)...)
			c.LinksAt = append(c.LinksAt, len(c.Links))
		}
	}
	return c
}
