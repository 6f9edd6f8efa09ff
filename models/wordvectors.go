package models

import (
	"fmt"
	"io"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/wordvectors"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// VectorsReport says what was found in a file of vectors of words.
type VectorsReport struct {
	InFile int // vectors in the file
	Kept   int // vectors of words of the data
	Dim    int // length of a vector
	Bytes  int // memory of the table
	Tokens int // of the data sets, all together
	Found  int // tokens that have a vector
}

// readVectors reads the vectors of the words in all data sets, and extends the vocabulary by the words that have one.
func (d *Data) readVectors(c *config.Config) error {
	sets := d.Sets()
	vocab := structured.NewAlphabet(d.inputs.Vocab[0].Names()...)
	wanted := structured.NewAlphabet(vocab.Names()...)
	for _, set := range sets {
		text.AddForms(wanted, set)
	}
	var v *wordvectors.Vectors
	err := formats.Open(c.Vectors, func(r io.Reader) error {
		var err error
		v, err = wordvectors.Read(r, c.Vectors, wanted)
		return err
	})
	if err != nil {
		return err
	}
	known := func(word string) bool { return v.Words.Index(word) >= 0 }
	for _, set := range sets {
		text.AddKnown(vocab, set, known)
	}
	table := &graph.WordVectors{Dim: v.Dim, Rows: make([]float32, vocab.Len()*v.Dim), Frozen: c.Freeze}
	report := &VectorsReport{InFile: v.Read, Dim: v.Dim, Bytes: 4 * len(table.Rows)}
	for id, word := range vocab.Names() {
		if row := v.Of(word); row != nil && id > 0 { // number 0 stands for unknown words
			copy(table.Rows[id*v.Dim:], row)
			report.Kept++
		}
	}
	if report.Kept == 0 {
		return structured.BadInput("%s: none of the words of its %d vectors occurs in the data", c.Vectors, v.Read)
	}
	if err := host.CheckMemory("training with "+c.Vectors, tasks.TrainingBytes(float64(len(table.Rows)), float64(report.Bytes))); err != nil {
		return fmt.Errorf("%w; use vectors of fewer numbers", err)
	}
	d.inputs.Vocab = slices.Clone(d.inputs.Vocab)
	d.inputs.Vocab[0], d.inputs.Vectors = vocab, table
	if err := d.inputs.Apply(d.Train, c.Threads); err != nil {
		return err
	}
	d.Vectors = report
	return nil
}

// count counts the tokens of an encoded data set, and those with a vector.
func (r *VectorsReport) count(d *structured.Dataset, v *graph.WordVectors) {
	fields := len(d.Vocab)
	for t := range d.Positions() {
		r.Tokens++
		if v.Has(int(d.Ids[t*fields])) {
			r.Found++
		}
	}
}
