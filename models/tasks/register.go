package tasks

import (
	"cmp"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// Register adds a task of a program's own: every verb then knows it by its name. A program registers its tasks, and
// before them the structures that they predict (registry.Register), before it uses any.
//
// A name that is empty or taken, functions that every task has and this one lacks, and settings without help are
// errors, which every later use of a task reports.
func Register(t Task) {
	err := checkRegistration(t)
	if registry.Add(t, err); err == nil {
		config.AddTask(t.Name, t.Settings != nil)
	}
}

// Labelling completes a task whose outputs have a label for each position, as tag's have: what t leaves out is done as
// there. A task of another structure gives Name, Summary and Output, which has the form of its potentials.
func Labelling(t Task) Task {
	t.Labels, t.Outputs = true, cmp.Or(t.Outputs, tag.Outputs)
	t.Result = cmp.Or(t.Result, tag.Result)
	if t.Fit == nil {
		t.Fit = tag.Fit
	}
	if t.Net == nil {
		t.Net = tag.Net
	}
	if t.LogLikelihood == nil {
		t.LogLikelihood = func(config.Config, inputs.Inputs) bool { return false }
	}
	if t.Layout == nil {
		t.Layout = tag.Layout
	}
	if t.Compare == nil {
		t.Compare = tag.Compare
	}
	if t.Review == nil {
		t.Review = tag.Review
	}
	if t.Metrics == nil {
		t.Metrics, t.Metric = tag.Metrics, tag.Metric
	}
	if t.Columns == nil {
		t.Columns = tag.Columns
	}
	return t
}

// Failed returns the first error of a registration.
func Failed() error { return registry.Failed() }

func checkRegistration(t Task) error {
	err := settings.CheckName(t.Name, names(func(Task) bool { return true }))
	switch lacks := t.lacks(); {
	case err != nil:
	case lacks != "":
		err = structured.BadInput("it has no %s", lacks)
	default:
		err = settings.CheckOwn(t.Settings)
	}
	if err != nil {
		return structured.BadInput("own task %q: %w", t.Name, err)
	}
	return nil
}

// lacks names what every task has and t has not; empty if it has all.
func (t Task) lacks() string {
	for _, x := range []struct {
		name string
		has  bool
	}{
		{"Outputs", t.Outputs != ""}, {"Summary", t.Summary != ""}, {"Fit", t.Fit != nil}, {"Output", t.Output != nil},
		{"Net", t.Net != nil}, {"LogLikelihood", t.LogLikelihood != nil},
		{"Layout", t.Layout != nil}, {"Compare", t.Compare != nil}, {"Review", t.Review != nil},
		{"Metrics", len(t.Metrics) > 0},
		{"Result", t.Result != ""}, {"Columns", len(t.Columns) > 0},
	} {
		if !x.has {
			return x.name
		}
	}
	return ""
}

// Own points to the task's own settings, Task.Settings with the values of a run; nil for a task without. Values that do
// not fit, which Validate refuses, are the defaults.
func Own(c *config.Config) any {
	t := Of(c)
	own, err := t.own(c.TaskSettings)
	if err != nil {
		own, _ = settings.Fresh(t.Settings)
	}
	return own
}

func (t Task) own(given settings.Texts) (any, error) {
	return settings.Fill(t.Settings, given, config.OwnSettingsName, "--task "+t.Name)
}
