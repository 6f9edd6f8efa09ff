package models

import (
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/inputs/packs"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
	"github.com/dsp-go/dsp/structured/machine/packed"
)

// Data are the data sets of a run, which share alphabets. Dev and Test are nil where there are none.
type Data struct {
	Train, Dev, Test *structured.Dataset

	inputs  inputs.Inputs  // how inputs were made from the columns of text
	packed  bool           // the training data are a pack, which has its inputs
	bases   bases          // the models that training continues
	Change  *tasks.Change  // that the task made to the training data, or nil
	Vectors *VectorsReport // on the vectors of words, or nil

	encoder *encoded.Reader  // whose rows the data sets have, or nil
	Encoded []encoded.Report // on their rows
}

// ReadData resolves c and reads or draws the data sets that it names. Labels and inputs are those of the training data;
// development and test data may have no other labels.
func ReadData(c *config.Config) (*Data, error) {
	if err := Resolve(c); err != nil {
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
	if check := tasks.Of(c).CheckData; check != nil {
		for _, set := range d.Sets() {
			if err := check(c, set, d.Train.Alphabet.Len()); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

// ReadFiles reads or draws the data sets that a resolved configuration names. Inputs of text stay columns until FitInputs.
func ReadFiles(c *config.Config) (*Data, error) {
	from, err := basesOf(c)
	if err != nil {
		return nil, err
	}
	if c.Format == formats.Builtin {
		d, err := drawn(c)
		if err == nil && from.start != nil {
			d.bases = from
			from.relabel(d.Sets()...)
			err = from.continues(d.Train)
		}
		return d, err
	}
	d := &Data{bases: from}
	var beside [3][]besides
	task, all := tasks.Of(c), false
	if _, d.packed = packed.Is(c.Train); d.packed {
		if d.Train, d.inputs, err = packs.Open(c); err == nil {
			beside, err = filesOf(c)
		}
		all = true
	} else if task.ReadAll != nil {
		d.Train, d.Dev, d.Test, all, err = task.ReadAll(c)
	}
	if !all {
		s := source{
			format: c.Format, columns: c.Columns, label: c.Label, scheme: c.Scheme, partial: c.Partial, threads: host.Threads(c.Threads),
			minCount: c.MinCount, hashBits: c.HashBits, task: task, localise: tasks.Localise(c), config: c,
		}
		if beside, err = filesOf(c); err != nil {
			return nil, err
		}
		if err := checkMemory(c, s, from); err != nil {
			return nil, err
		}
		d.Train, err = s.readTraining(c.Train, beside[0], from)
	} else if err == nil && from.start != nil {
		from.relabel(d.Sets()...)
	}
	if err != nil {
		return nil, err
	}
	if d.Train.Labels == nil {
		return nil, structured.BadInput("%s: no labels to train on", c.Train)
	}
	if d.encoder, err = encoderOf(c, from); err == nil && d.encoder != nil {
		if d.packed {
			return nil, structured.BadInput("--encoder %s reads words, which %s, a pack, does not hold; train on the data that it was made from", c.Encoder, c.Train)
		}
		err = d.encode(c, d.Train)
	}
	if err != nil {
		return nil, err
	}
	if from.start != nil {
		if d.packed {
			return nil, cannotContinue(c.Train)
		}
		if err := from.continues(d.Train); err != nil {
			return nil, err
		}
	}
	if !d.packed {
		if err := d.prepare(c); err != nil {
			return nil, err
		}
	}
	like := sourceLike(c, d.Train)
	if d.encoder != nil {
		like.dim -= d.encoder.Width()
	}
	for _, more := range []struct {
		path   string
		beside []besides
		to     **structured.Dataset
	}{{c.Dev, beside[1], &d.Dev}, {c.Test, beside[2], &d.Test}} {
		if more.path == "" {
			continue
		}
		if *more.to, err = like.readFiles(more.path, more.beside, true); err == nil && d.encoder != nil {
			err = d.encode(c, *more.to)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// FitInputs makes the inputs of text out of its columns, in all data sets, from what occurs in the training data.
func (d *Data) FitInputs(c *config.Config) error {
	var err error
	if m := d.bases.start; m != nil {
		d.inputs, err = m.Inputs.Extend(c, d.Train)
	} else if !d.packed {
		d.inputs, err = tasks.Of(c).Fit(c, d.Train)
	}
	if err != nil {
		return err
	}
	d.inputs.Encoder = d.encoder
	if d.bases.start == nil && !d.packed && c.Vectors != "" && d.inputs.Vocab != nil {
		if err := d.readVectors(c); err != nil {
			return err
		}
	}
	for _, set := range d.Sets()[1:] {
		if err := d.inputs.Apply(set, c.Threads); err != nil {
			return err
		}
	}
	if d.Vectors != nil {
		for _, set := range d.Sets() {
			d.Vectors.count(set, d.inputs.Vectors)
		}
	}
	return nil
}

// Packed reports whether the training data are a pack.
func (d *Data) Packed() bool { return d.packed }

// Pack writes the training data with their inputs to a pack, as c says, which is resolved.
func (d *Data) Pack(path string, c *config.Config) (packs.Summary, error) {
	if d.encoder != nil {
		return packs.Summary{}, structured.BadInput("--encoder %s: packs do not hold the rows of encoders, which have files of their own (--encoder-cache)", c.Encoder)
	}
	return packs.Write(path, c, d.Train, d.inputs)
}

// ForgetText drops the text of the training data, of which their inputs were made, so that memory need not hold it while training. Inputs
// cannot be made anew after that.
func (d *Data) ForgetText() { d.Train.ForgetText() }

// Continues reports whether training continues a model, whose numbers of labels and attributes stay.
func (d *Data) Continues() bool { return d.bases.start != nil }

// Sets returns the data sets that there are, the training data first.
func (d *Data) Sets() []*structured.Dataset {
	all := []*structured.Dataset{d.Train, d.Dev, d.Test}
	return slices.DeleteFunc(all, func(set *structured.Dataset) bool { return set == nil })
}

// drawn draws the built-in data of the task; for one that has none, those of the task that format builtin belongs to, which models of
// other tasks refuse as they refuse other data that they cannot read.
func drawn(c *config.Config) (*Data, error) {
	task := tasks.Of(c)
	if task.Draw == nil {
		task = tasks.ForFormat(formats.Builtin)
	}
	d := &Data{}
	var err error
	sized := *c
	sized.Examples = tasks.ChooseExamples(c)
	if d.Train, d.Dev, d.Test, err = task.Draw(&sized); err != nil {
		return nil, err
	}
	return d, d.prepare(c)
}

// prepare lets the task change the training data.
func (d *Data) prepare(c *config.Config) error {
	var err error
	if prepare := tasks.Of(c).Prepare; prepare != nil {
		d.Change, err = prepare(c, d.Train)
	}
	return err
}
