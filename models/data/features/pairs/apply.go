package pairs

import (
	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Apply makes the attributes of a data set of sentence pairs (alignments.Corpus.Dataset) and stores them in its tables
// of pairs and of source words. threads 0 means all cores; the result does not depend on it.
func Apply(t *Template, stats *Statistics, numbers *Dictionary, d *structured.Dataset, threads int) error {
	c := alignments.Of(d)
	if c.Words == nil && c.Len() > 0 {
		return structured.BadInput("%s: no words, which attributes of word pairs are made of", d.Name)
	}
	const block = 16 // sentence pairs per unit of work
	blocks := (c.Len() + block - 1) / block
	pair, source := make([]*structured.Sparse, blocks), make([]*structured.Sparse, blocks)
	err := host.Parallel(threads, blocks, func() *Extractor { return NewExtractor(t, stats, numbers) },
		func(e *Extractor, b int) error {
			pair[b], source[b] = &structured.Sparse{Offsets: []int{0}}, &structured.Sparse{Offsets: []int{0}}
			for i := b * block; i < min(c.Len(), (b+1)*block); i++ {
				e.Extract(c.Source(i), c.Target(i), pair[b], source[b])
			}
			return nil
		})
	if err != nil {
		return err
	}
	d.SetAttributes(structured.Shape{Rows: alignments.PairRows}, structured.JoinSparse(pair))
	d.SetAttributes(structured.Shape{Rows: alignments.SourceRows}, structured.JoinSparse(source))
	return nil
}
