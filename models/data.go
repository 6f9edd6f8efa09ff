package models

import (
	"io"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
	"github.com/dsp-go/dsp/structured/ocr"
	"github.com/dsp-go/dsp/structured/trees"
)

// Data are the data sets of a run, which share alphabets. Dev and Test are nil where there are none.
type Data struct {
	Train, Dev, Test *structured.Dataset

	inputs   inputs.Inputs        // how inputs were made from the columns of text
	Crossing *trees.CrossingCount // of the training trees that were lifted, or nil
	Vectors  *VectorsReport       // on the vectors of words, or nil
}

// Input returns the shape of what a network reads at each position.
func (d *Data) Input() graph.Input {
	in := inputs.Of(d.Train)
	in.Vectors = d.inputs.Vectors
	return in.Shape(d.Train.Dim)
}

// ReadData resolves c and reads or draws the data sets that it names. Labels and inputs are those of the training data;
// development and test data may have no other labels.
func ReadData(c *config.Config) (*Data, error) {
	if err := tasks.Resolve(c); err != nil {
		return nil, err
	}
	return ReadResolved(c)
}

// ReadResolved is ReadData for a configuration that Resolve has resolved.
func ReadResolved(c *config.Config) (*Data, error) {
	d, err := ReadFiles(c)
	if err == nil {
		err = d.FitInputs(c)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// ReadFiles reads or draws the data sets that a resolved configuration names. Inputs of text stay columns until FitInputs.
func ReadFiles(c *config.Config) (*Data, error) {
	if c.Format == formats.Builtin {
		return drawn(c)
	}
	d, dense := &Data{}, make([]string, 3)
	var err error
	if formats.Find(c.Format).Images && c.Fold >= 0 {
		d.Train, d.Test, err = readFold(c.Train, c.Fold)
	} else {
		s := source{
			format: c.Format, columns: c.Columns, label: c.Label, scheme: c.Scheme, partial: c.Partial, threads: host.Threads(c.Threads),
			minCount: c.MinCount, hashBits: c.HashBits, trees: c.Task == "parse",
		}
		if dense, err = denseFiles(c); err != nil {
			return nil, err
		}
		if err := checkMemory(c, s); err != nil {
			return nil, err
		}
		s.dense = dense[0]
		d.Train, err = s.read(c.Train, true)
	}
	if err != nil {
		return nil, err
	}
	if d.Train.Labels == nil {
		return nil, structured.BadInput("%s: no labels to train on", c.Train)
	}
	if err := d.projectivise(c); err != nil {
		return nil, err
	}
	like := sourceLike(c, d.Train)
	for _, more := range []struct {
		path, dense string
		to          **structured.Dataset
	}{{c.Dev, dense[1], &d.Dev}, {c.Test, dense[2], &d.Test}} {
		if more.path == "" {
			continue
		}
		like.dense = more.dense
		if *more.to, err = like.read(more.path, true); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// FitInputs makes the inputs of text out of its columns, in all data sets, from what occurs in the training data.
func (d *Data) FitInputs(c *config.Config) error {
	var err error
	if d.inputs, err = inputs.Fit(c, d.Train); err != nil {
		return err
	}
	if c.Vectors != "" && d.inputs.Vocab != nil {
		if err := d.readVectors(c); err != nil {
			return err
		}
	}
	for _, set := range d.sets()[1:] {
		if err := d.inputs.Apply(set, c.Threads); err != nil {
			return err
		}
	}
	if d.Vectors != nil {
		for _, set := range d.sets() {
			d.Vectors.count(set, d.inputs.Vectors)
		}
	}
	return nil
}

// sets returns the data sets that there are, the training data first.
func (d *Data) sets() []*structured.Dataset {
	all := []*structured.Dataset{d.Train, d.Dev, d.Test}
	return slices.DeleteFunc(all, func(set *structured.Dataset) bool { return set == nil })
}

// drawn draws the data of the task.
func drawn(c *config.Config) (*Data, error) {
	if c.Task == "parse" {
		return drawTrees(c)
	}
	o := ocr.OCRWords{Difficulty: c.Difficulty, Seed: c.Seed}
	o.Train, o.Dev, o.Test = c.Examples[0], c.Examples[1], c.Examples[2]
	if err := o.Validate(); err != nil {
		return nil, err
	}
	d := &Data{}
	d.Train, d.Dev, d.Test = o.Generate()
	return d, nil
}

func readFold(path string, fold int) (train, test *structured.Dataset, err error) {
	err = formats.Open(path, func(r io.Reader) error {
		letters, err := ocr.ReadLetters(r, path)
		if err != nil {
			return err
		}
		train, test, err = letters.Split(fold)
		return err
	})
	return train, test, err
}
