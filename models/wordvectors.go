package models

import (
	"fmt"
	"io"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/wordvectors"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
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
func (d *Data) readVectors(c *config.Config, t inputs.Training) error {
	vocab := structured.NewAlphabet(d.inputs.Vocab[0].Names()...)
	table, err := d.vectorsOf(c, t, vocab)
	if err != nil {
		return err
	}
	d.inputs.Vocab = slices.Clone(d.inputs.Vocab)
	d.inputs.Vocab[0], d.inputs.Vectors = vocab, table
	return makeAgain(d.inputs, t, c)
}

// readWordRows reads the vectors of the words in all data sets, which become dense inputs, and makes them in the
// training data.
func (d *Data) readWordRows(c *config.Config, t inputs.Training) error {
	if t.Own.Column(text.WordColumn) == nil {
		return structured.BadInput("--vectors %s: %s has no column of words; name it with --columns", c.Vectors, d.Train.Name)
	}
	if d.Train.Dim > 0 {
		return structured.BadInput("--vectors %s: the data has dense features already; net linear reads one or the other: leave out --dense or --encoder, or join the vectors to the features", c.Vectors)
	}
	words := structured.NewAlphabet(text.Unknown)
	table, err := d.vectorsOf(c, t, words)
	if err != nil {
		return err
	}
	was := d.inputs
	d.inputs.WordRows = &inputs.WordRows{Words: words, Vectors: table}
	was.Own, was.Template, was.WordRows = nil, nil, d.inputs.WordRows // attributes are there already
	return makeAgain(was, t, c)
}

// makeAgain makes inputs of the training data that have changed since they were fitted.
func makeAgain(in inputs.Inputs, t inputs.Training, c *config.Config) error {
	if err := in.Apply(t.Own, c.Threads); err != nil {
		return err
	}
	return t.Complete(in)
}

// vectorsOf reads the vectors of the words of a vocabulary and of those in all data sets, which it adds to the
// vocabulary if they have one.
func (d *Data) vectorsOf(c *config.Config, t inputs.Training, vocab *structured.Alphabet) (*graph.WordVectors, error) {
	sets := append([]*structured.Dataset{t.Own}, d.Sets()[1:]...)
	wanted := structured.NewAlphabet(vocab.Names()...)
	words := make([][]string, len(sets))
	for k, set := range sets {
		var peers structured.Peers
		if k == 0 {
			peers = t.Share.Peers
		}
		var err error
		if words[k], err = text.Words(set, peers); err != nil {
			return nil, err
		}
		text.AddForms(wanted, words[k])
	}
	var v *wordvectors.Vectors
	err := formats.Open(c.Vectors, func(r io.Reader) error {
		var err error
		v, err = wordvectors.Read(r, c.Vectors, wanted)
		return err
	})
	if err != nil {
		return nil, err
	}
	known := func(word string) bool { return v.Words.Index(word) >= 0 }
	for _, of := range words {
		text.AddKnown(vocab, of, known)
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
		return nil, structured.BadInput("%s: none of the words of its %d vectors occurs in the data", c.Vectors, v.Read)
	}
	if err := host.CheckMemory("training with "+c.Vectors, tasks.TrainingBytes(float64(len(table.Rows)), float64(report.Bytes))); err != nil {
		return nil, fmt.Errorf("%w; use vectors of fewer numbers", err)
	}
	d.Vectors = report
	return table, nil
}

// count counts the tokens of an encoded data set, and those with a vector.
func (r *VectorsReport) count(d *structured.Dataset, in inputs.Inputs) {
	r.Tokens += d.Positions()
	if in.WordRows != nil {
		r.Found += in.WordRows.Found(d)
		return
	}
	v, fields := in.Vectors, len(d.Vocab)
	for t := range d.Positions() {
		if v.Has(int(d.Ids[t*fields])) {
			r.Found++
		}
	}
}
