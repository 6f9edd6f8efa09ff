package models

import (
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/inputs/packs"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/images"
)

// Data are the data sets of a run with their inputs, which share alphabets. Dev and Test are nil where there are none.
type Data struct {
	Train, Dev, Test *structured.Dataset

	Change  *tasks.Change  // that the task made to the training data, or nil
	Choice  *tasks.Choice  // of settings, which these data need, or nil
	Vectors *VectorsReport // on the vectors of words, or nil

	Encoded []encoded.Report // on the rows of the encoder

	// Share is the examples whose attributes Train has: all, for a process alone. Rows of others are empty.
	Share structured.Share

	notation chains.Notation // of the tags of the training data

	inputs    inputs.Inputs   // how inputs were made from the columns of text
	continued continuedModels // the models that training continues

	teacher *teacher // whose marginals are the targets, or nil
}

// Data reads the data and makes their inputs. Labels and inputs are those of the training data.
func (r *Resolved) Data() (*Data, error) { return r.SharedData(structured.Peers{}) }

// SharedData is Data for one of several processes that train together, and take shares of the training examples. It
// reads the text of its own examples alone, and makes their attributes alone, where it can, as Data.Share tells. The
// rows of an encoder the processes compute together.
func (r *Resolved) SharedData(peers structured.Peers) (*Data, error) {
	raw, err := r.read(peers)
	if err != nil {
		return nil, err
	}
	d, err := raw.Fit(&r.config)
	if err != nil {
		return nil, err
	}
	if d.Choice != nil {
		d.Choice.Make(&r.config)
	}
	if check := tasks.Of(&r.config).CheckData; check != nil {
		for _, set := range d.Sets() {
			if err := check(&r.config, set, d.Train.Alphabet.Len()); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

// Fit makes the inputs of text out of its columns, in all data sets, from what occurs in the training data. Raw data
// may be fitted as often as there are settings for it.
func (raw *Raw) Fit(c *config.Config) (*Data, error) {
	own := func(set *structured.Dataset) *structured.Dataset {
		if set == nil {
			return nil
		}
		d := *set
		return &d
	}
	d := &Data{Train: own(raw.Train), Dev: own(raw.Dev), Test: own(raw.Test), Change: raw.Change, Encoded: raw.Encoded, inputs: raw.inputs, continued: raw.continued, teacher: raw.teacher, notation: raw.notation}
	t := inputs.Alone(d.Train)
	if raw.own != nil {
		t = inputs.Training{All: d.Train, Own: own(raw.own), Share: raw.share}
	}
	var err error
	if m := d.continued.start; m != nil {
		d.inputs, err = m.Inputs.Extend(c, t)
	} else if !raw.packed {
		d.inputs, err = tasks.Of(c).Fit(c, t)
	}
	if err == nil {
		err = t.Complete(d.inputs)
	}
	if err != nil {
		return nil, err
	}
	d.Share = t.Divided()
	if !raw.packed {
		d.inputs.Looks = images.SummariseLooks(d.Train.Looks)
	}
	if tasks.Of(c).Labels {
		if d.teacher != nil && c.Order > 1 {
			d.inputs.Steps = d.teacher.Steps
		}
		if err := d.inputs.FitSteps(c, d.Train); err != nil {
			return nil, err
		}
	}
	d.inputs.Encoder = raw.encoder
	if err := d.standardise(c, raw.packed); err != nil {
		return nil, err
	}
	if d.continued.start == nil && !raw.packed && c.Vectors != "" {
		read := d.readVectors
		if d.inputs.Vocab == nil {
			read = d.readWordRows
		}
		if err := read(c, t); err != nil {
			return nil, err
		}
	}
	if choose := tasks.Of(c).Choose; choose != nil {
		d.Choice = choose(c, d.Sets())
	}
	for _, set := range d.Sets()[1:] {
		if err := d.inputs.Apply(set, c.Threads); err != nil {
			return nil, err
		}
		if d.inputs.Standard == nil {
			continue
		}
		if err := d.inputs.Standard.Apply(set); err != nil {
			return nil, err
		}
	}
	if d.Vectors != nil {
		for _, set := range d.Sets() {
			d.Vectors.count(set, d.inputs)
		}
	}
	return d, nil
}

// standardise standardises the features of the training data, as c asks or the model does that training continues, and
// the rows of an encoder beside attributes. Those of a pack are.
func (d *Data) standardise(c *config.Config, packed bool) error {
	if packed {
		return nil
	}
	var err error
	switch e := d.inputs.Encoder; {
	case e != nil && e.Tuned != nil && !c.Standardise: // weights are those of rows as they are (continuedModels.weights)
		d.inputs.Standard = nil
		return nil
	case d.inputs.Standard != nil:
	case !c.Standardise && d.rowsBesideAttributes(c):
		d.inputs.Standard, err = inputs.FitRows(d.Train, e.Width(), d.Share)
	case !c.Standardise:
		return nil
	case d.continued.start != nil:
		return structured.BadInput("--standardise: the model of --%s reads features as they are; leave it out, or start anew", d.continued.setting)
	case c.Encoder != "" || c.Vectors != "":
		return structured.BadInput("--standardise is for features that data files have; the rows of --encoder are scaled without it, and those of --vectors have one scale")
	case d.Train.Dim == 0 || d.Train.Features == nil && !d.Train.Stored:
		return structured.BadInput("--standardise: %s has no dense features; they come from an npz archive, or with --dense", d.Train.Name)
	default:
		d.inputs.Standard, err = inputs.FitStandard(d.Train)
	}
	if err != nil {
		return err
	}
	return d.inputs.Standard.Apply(d.Train)
}

// rowsBesideAttributes reports whether a linear model that has no weights of rows yet gets rows of an encoder beside
// the attributes of words.
func (d *Data) rowsBesideAttributes(c *config.Config) bool {
	return d.inputs.Encoder != nil && (c.Net == "auto" || c.Preset().Linear) && d.Train.Attributes != nil && d.inputs.Own == nil && (d.continued.start == nil || d.continued.start.Dim == 0)
}

// Pack writes the training data with their inputs to a pack, as c says, which is resolved.
func (d *Data) Pack(path string, c *config.Config) (packs.Summary, error) {
	if e := d.inputs.Encoder; e != nil && e.Tuned != nil {
		return packs.Summary{}, structured.BadInput("packs hold the rows of encoders that stay as they are; train on the text with --tune-encoder")
	}
	return packs.Write(path, c, d.Train, d.inputs, d.notation)
}

// ForgetText drops the text of the training data, of which their inputs were made, so that memory need not hold it
// while training. Inputs cannot be made anew after that.
func (d *Data) ForgetText() { d.Train.ForgetText() }

// Sets returns the data sets that there are, the training data first.
func (d *Data) Sets() []*structured.Dataset { return present(d.Train, d.Dev, d.Test) }
