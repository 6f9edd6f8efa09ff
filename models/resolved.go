package models

import (
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/packed"
)

// Resolved are the settings of a run of which all that needs no data is decided, and the models that the run continues.
type Resolved struct {
	config    config.Config
	continued continuedModels
	teacher   *Model // whose marginals the run learns, or nil
	onDisk    bool   // features of npz archives stay in their files
	remarks   *remarks.Remarks
}

// Remarks are those of Read on the examples of the data.
func (r *Resolved) Remarks() *remarks.Remarks { return r.remarks }

// LeaveFeatures leaves the features of npz archives in their files, where they can stay there: several processes that
// train together read what they need.
func (r *Resolved) LeaveFeatures() { r.onDisk = true }

// Resolve validates settings as given and decides what needs no data: the format, the task, what columns hold, and what
// the run takes from the model that it continues.
func Resolve(given config.Config) (*Resolved, error) { return new(Library).Resolve(given) }

// Library resolves the settings of several runs, and loads each model that they continue once.
type Library struct{ loaded map[string]*Model }

// Resolve is the function Resolve.
func (l *Library) Resolve(given config.Config) (*Resolved, error) {
	r := &Resolved{config: given, remarks: RemarksFor(given.Bad)}
	c := &r.config
	if c.TrainLocal != "" && c.Train == "" {
		return nil, structured.BadInput("--train-local is for dsp train with several ranks, each with a file of its own; give --train")
	}
	var err error
	if r.continued, err = l.continuedOf(c); err != nil {
		return nil, err
	}
	if from := r.continued; from.start != nil {
		if _, ok := packed.Is(c.Train); ok {
			return nil, cannotContinue(c.Train)
		}
		format := c.Format
		if format == "" && c.Train != "" {
			files, err := formats.Expand("train", c.Train, "")
			if err == nil {
				format, err = formats.DetectAll(files)
			}
			if err != nil {
				return nil, err
			}
		}
		base := from.start.Config
		if err := dataFor(c, from.setting, from.path, base.Task); err != nil {
			return nil, err
		}
		if f := formats.Find(format); f.Name != "" && f.Name != formats.Builtin && !slices.Contains(tasks.Reading(f), base.Task) {
			return nil, structured.BadInput("%s: --format %s is not read by --task %s, which the model of --%s %s has", c.Train, format, base.Task, from.setting, from.path)
		}
		if formats.Find(base.Format).Numbered && formats.Find(format).Columns { // it knows no attributes of words
			return nil, structured.BadInput("%s: --format %s has columns, and the model of --%s %s "+
				"reads attributes that another program made (--format %s)",
				c.Train, format, from.setting, from.path, base.Format)
		}
		if err := from.scoresAlike(c); err != nil {
			return nil, err
		}
		if err := c.Inherit(base, from.setting, from.path, format == base.Format); err != nil {
			return nil, err
		}
	}
	if c.Teacher != "" {
		if r.teacher, err = l.load("teacher", c.Teacher, ""); err == nil {
			if err = dataFor(c, "teacher", c.Teacher, r.teacher.Config.Task); err == nil {
				err = r.teacher.learnFrom(c)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return r, tasks.Resolve(c)
}

// dataFor refuses a run without training data whose task is that of a model, and draws none. setting and path say which
// model.
func dataFor(c *config.Config, setting, path, task string) error {
	if t, _ := tasks.Named(task); t.Draw == nil && c.Train == "" && c.Resume == "" && (settings.Undecided(c.Task) || c.Task == task) {
		return structured.BadInput("--%s %s: its --task %s needs training data: give --train FILE", setting, path, task)
	}
	return nil
}

// Config returns the settings.
func (r *Resolved) Config() config.Config { return r.config }

// RemarksFor returns remarks that treat bad examples as the setting says.
func RemarksFor(bad string) *remarks.Remarks { return remarks.New(bad == SkipBad) }

// RefuseBad and SkipBad are the values of the setting: a bad example is an error, or left out.
const RefuseBad, SkipBad = "refuse", "skip"

// WithSeed returns the same settings for another seed.
func (r *Resolved) WithSeed(seed uint64) *Resolved {
	other := *r
	other.config.Seed = seed
	return &other
}

// load returns the model that a setting names. encoder is the folder of the encoder if it refers to one; empty: where
// its run says, or beside it.
func (l *Library) load(setting, path, encoder string) (*Model, error) {
	if m := l.loaded[path]; m != nil {
		return m, nil
	}
	m, err := LoadWith(path, encoded.Source{Folder: encoder})
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", setting, err)
	}
	if l.loaded == nil {
		l.loaded = map[string]*Model{}
	}
	l.loaded[path] = m
	return m, nil
}

func (l *Library) continuedOf(c *config.Config) (b continuedModels, err error) {
	load := func(setting, path string) *Model {
		if path == "" || err != nil {
			return nil
		}
		var m *Model
		if m, err = l.load(setting, path, c.Encoder); err != nil {
			return nil
		}
		if wrong := m.NeedsNames("continue it"); wrong != nil {
			err = fmt.Errorf("--%s: %w", setting, wrong)
		}
		return m
	}
	b.start = load("init", c.Init)
	b.setting, b.path = "init", c.Init
	if b.prior = load("prior", c.Prior); b.start == nil {
		b.start, b.setting, b.path = b.prior, "prior", c.Prior
	}
	return b, err
}
