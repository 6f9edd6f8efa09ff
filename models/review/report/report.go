// Package report writes a page of HTML about a run or a model: what was trained, how it went, how good the model is on
// held-out data, and where it fails. The page is one file that needs nothing else: pictures are inline SVG, and there
// are no scripts.
package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/review/intervals"
	"github.com/dsp-go/dsp/models/sweep"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/models/training/closing"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Options say what a report is about.
type Options struct {
	Path    string // folder of a run, or model file
	Encoder string // folder of its encoder if it refers to one; empty: where its run says, or beside it
	Threads int    // 0: all cores; they change nothing
	Version string // of this program

	// Prepare looks at the model before it is measured; nil: nobody does.
	Prepare func(m *models.Model) error
	// Read reads the data that the model is measured on. Nil: the test data of the run or, without, its development
	// data.
	Read func(m *models.Model) (*structured.Dataset, error)
}

// Report is what a page shows. What there is none of is empty, and left out.
type Report struct {
	Title, Subtitle string
	Finding         string   // in a sentence
	Notes           []string // what is missing, and why
	Version         string

	Sweep *Sweep

	Changed  *Table // settings that differ from the defaults
	Settings []Group
	Data     *Table
	Model    *Table

	Curves  Picture
	Closing *Table

	Measured  *Measured
	Weights   []Weights
	Numbering []string // of the labels in Weights that are left out
}

// Group is a group of settings.
type Group struct {
	Name string
	Table
}

// Measured is how good the model is on held-out data.
type Measured struct {
	On          string // name of the data
	Part        string // "test data", "development data" or "data"
	Examples    int
	Metrics     *Table
	Estimates   []intervals.Estimate
	Intervals   string   // what those of Estimates are
	Against     []string // comparisons with the baselines
	Tests       string   // what those of Against are
	Tables      []Table
	Confusion   *Table
	Reliability Picture
	Calibrated  string
	Curve       Picture
	CurveText   string
	Worst       *Worst
	Drawn       Picture
}

// Data returns the names of the data's files, without their folders.
func (m *Measured) Data() string { return config.FileNames(m.On) }

// Of collects a report.
func Of(ctx context.Context, o Options) (*Report, error) {
	info, err := os.Stat(o.Path)
	if err != nil {
		return nil, structured.BadInput("%w; expected the folder of a run, or a model file", err)
	}
	dir, err := os.MkdirTemp("", "dsp-report")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w := &writer{ctx: ctx, o: o, scratch: dir}
	w.Version = o.Version
	switch {
	case !info.IsDir():
		if w.model, err = models.LoadWith(o.Path, encoded.Source{Folder: o.Encoder}); err != nil {
			return nil, err
		}
		w.Notes = append(w.Notes, "This is a report on a model file alone: the curves of its training are in the folder of "+
			"the run, dsp report RUN.")
		return w.report(&w.model.Config)
	case models.IsPipeline(o.Path):
		return nil, models.NotSingle(o.Path)
	case training.IsRun(o.Path):
		if w.run, err = training.ReadRecorded(o.Path, o.Encoder); err != nil {
			return nil, err
		}
		w.model = w.run.Model
		if w.model != nil {
			w.model.Config.TakePaths(w.run.Config)
		}
		return w.report(&w.run.Config)
	}
	if sweep.IsSweep(o.Path) {
		return w.sweep()
	}
	return nil, structured.BadInput("%s: neither config.yaml nor a sweep there; expected the folder of "+
		"a run, or a model file", o.Path)
}

// writer collects a report.
type writer struct {
	Report
	ctx     context.Context
	o       Options
	scratch string             // folder for pictures
	run     *training.Recorded // or nil
	model   *models.Model      // or nil
}

func (w *writer) report(c *config.Config) (*Report, error) {
	if err := w.prepare(); err != nil {
		return nil, err
	}
	w.name()
	w.Subtitle = fmt.Sprintf("Task %s, net %s, loss %s, method %s, trained on %s", c.Task, c.Net, c.Loss, c.Method,
		cmp.Or(config.FileNames(c.Train), "built-in data"))
	named := c.WithNames() // who reads a report learns no folders of who made it
	w.settings(&named)
	if err := w.course(); err != nil {
		return nil, err
	}
	var d *structured.Dataset
	if w.model != nil {
		var err error
		if d, err = w.measure(); err != nil {
			return nil, err
		}
		w.weights()
	}
	w.describe(c, d)
	w.find(c)
	return &w.Report, w.ctx.Err()
}

// prepare has the caller look at the model. The folder of an encoder is bad input where no model can be loaded.
func (w *writer) prepare() error {
	switch {
	case w.model != nil && w.o.Prepare != nil:
		return w.o.Prepare(w.model)
	case w.model != nil || w.o.Encoder == "":
		return nil
	case w.run != nil && w.run.Problem != nil:
		return structured.BadInput("%s: the model cannot be loaded with the encoder of %s: %w", w.o.Path,
			w.o.Encoder, w.run.Problem)
	}
	return structured.BadInput("%s: there is no model yet that needs the encoder of %s", w.o.Path, w.o.Encoder)
}

// name makes the name of the folder or file the title.
func (w *writer) name() {
	w.Title = filepath.Base(filepath.Clean(w.o.Path))
	if abs, err := filepath.Abs(w.o.Path); err == nil {
		w.Title = filepath.Base(abs)
	}
}

// course adds the curves and the closing table, and says how far the run came.
func (w *writer) course() error {
	if w.run == nil {
		return nil
	}
	last := 0
	if n := len(w.run.Records); n > 0 {
		last = w.run.Records[n-1].Pass
	}
	switch {
	case w.run.Finished && w.model == nil:
		w.Notes = append(w.Notes, fmt.Sprintf("The model cannot be loaded: %v.", w.run.Problem))
	case !w.run.Finished:
		text := fmt.Sprintf("The run was interrupted after pass %d of %d. This reports what there is; dsp train "+
			"--resume %s continues it.",
			last, w.run.Config.Passes, w.run.Folder)
		if last == 0 {
			text = fmt.Sprintf("The run was interrupted before its first pass ended; dsp train --resume %s starts it over.",
				w.run.Folder)
		}
		if w.model != nil {
			text += fmt.Sprintf(" The weights that are measured here are those of its checkpoint, after pass %d.",
				w.model.Unfinished)
		}
		w.Notes = append(w.Notes, text)
	}
	results := w.run.Results()
	if len(w.run.Records) == 0 || len(results) == 0 {
		return nil
	}
	task := tasks.Of(&w.run.Config)
	w.Closing = upright(closing.Rows(results, task.Columns))
	w.Closing.Caption = capital(task.Result)
	if results[0].Dev != nil {
		w.Closing.Caption += ", measured with the weights of the pass that did best on dev"
	}
	var err error
	w.Curves, err = w.draw("curves of the training", func(path string) error { return drawCurves(path, w.run) })
	return err
}

// find says the finding in a sentence.
func (w *writer) find(c *config.Config) {
	var parts []string
	if m := w.Measured; m != nil && len(m.Estimates) > 0 {
		e := m.Estimates[0]
		parts = append(parts, fmt.Sprintf("%s is %.2f %% on %s (%v)", e.Label, 100*e.Value, m.Data(), e.Interval))
	} else if m != nil && m.Metrics != nil {
		parts = append(parts, "the model was measured on "+m.Data())
	}
	if w.run != nil && len(w.run.Records) > 0 {
		r := w.run.Results()[0]
		passes := "passes"
		if r.Passes == 1 {
			passes = "pass"
		}
		text := fmt.Sprintf("%d %s of %s took %.3g s", r.Passes, passes, r.Method, r.Seconds)
		if gap := closing.Gap(r.RelativeGap, r.Relaxed); gap != "" {
			text += " and left a certified relative gap of " + gap
			if r.EstimatedGap > 0 {
				text += ", by an estimate that nothing proves " + closing.Gap(r.EstimatedGap, r.Relaxed)
			}
			if k := r.Kept; k != nil && k.Pass != r.Passes {
				text += fmt.Sprintf("; the model is that of pass %d, which did best on development data", k.Pass)
				if gap := closing.Gap(k.RelativeGap, r.Relaxed); gap != "" {
					text += ", where the gap was " + gap
				}
			}
		}
		parts = append(parts, text)
	}
	if parts == nil {
		parts = []string{fmt.Sprintf("a model that predicts %s, not measured", tasks.Of(c).Outputs)}
		if w.model == nil {
			parts = []string{"there is no model yet"}
		}
	}
	text := strings.Join(parts, "; ")
	w.Finding = strings.ToUpper(text[:1]) + text[1:] + "."
}

// data reads the data to measure on; nil, with a note, if there are none.
func (w *writer) data() (d *structured.Dataset, part string, err error) {
	if w.o.Read != nil {
		d, err = w.o.Read(w.model)
		return d, "data", err
	}
	type heldOut struct {
		d    *structured.Dataset
		part string
	}
	read, err := host.Await(w.ctx, func() (heldOut, error) {
		d, part, err := w.model.ReadHeldOut(w.o.Threads)
		return heldOut{d, part}, err
	})
	d, part = read.d, read.part
	var internal *host.PanicError
	switch {
	case errors.As(err, &internal) || w.ctx.Err() != nil:
		return nil, "", err
	case err != nil:
		w.Notes = append(w.Notes,
			fmt.Sprintf("The %s data of the run cannot be read: %v. Give other data with --data.", part, err))
		return nil, "", nil
	case d == nil:
		w.Notes = append(w.Notes, "The run had neither test nor development data, so the model is not measured. "+
			"Give data with --data.")
	case d.Labels == nil:
		w.Notes = append(w.Notes, "The held-out data have no gold outputs, so the model is not measured.")
		return nil, "", nil
	}
	return d, map[string]string{"test": "test data", "dev": "development data"}[part], nil
}
