package models

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/curves"
	"github.com/dsp-go/dsp/train/tensorboard"
)

// TrainOptions are what Train needs beside the configuration.
type TrainOptions struct {
	Version string       // of this program, for the model file
	Log     *slog.Logger // hears what was decided and why, and of the progress where there is no terminal; nil: silence
	Console *os.File     // where a progress bar goes if it is a terminal; nil: no progress
}

// Train trains as c says and leaves in the run folder c.Out the resolved configuration, metrics of every pass,
// checkpoints, curves and the model: the weights that did best on the development data, or without such data the last
// ones. Baselines are runs of their own in folders inside.
//
// When ctx ends, it returns what is known and an error that is train.ErrInterrupted: c.Resume continues from there to
// the same bits. Training from another configuration, or a folder that cannot be written, is refused before any work.
func Train(ctx context.Context, c Config, o TrainOptions) (*Result, error) {
	result, runs, err := trainAll(ctx, &c, o)
	if len(runs) == 0 {
		return result, err
	}
	return result, errors.Join(err, curves.Write(filepath.Join(c.Out, curvesFile), runs...))
}

// trainAll is Train but for the curves, which it returns. It settles c.Out.
func trainAll(ctx context.Context, c *Config, o TrainOptions) (*Result, []curves.Run, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := c.Validate(); err != nil {
		return nil, nil, err
	}
	if c.Resume != "" {
		if err := checkResumed(*c); err != nil {
			return nil, nil, err
		}
		c.Out = c.Resume
	}
	if err := makeRunFolder(c, time.Now()); err != nil {
		return nil, nil, err
	}
	data, err := ReadData(c)
	if err != nil {
		return nil, nil, errors.Join(err, removeIfEmpty(c.Out))
	}
	if c.Patience > 0 && data.Dev == nil {
		return nil, nil, errors.Join(structured.BadInput("--patience %d needs development data to watch: give --dev FILE", c.Patience),
			removeIfEmpty(c.Out))
	}
	o.Log.Info("data", "training", data.Train.Name, "examples", data.Train.Len(), "positions", data.Train.Positions(),
		"labels", data.Train.Alphabet.Len())
	r, err := newRun(*c, data, o)
	if err != nil {
		return nil, nil, errors.Join(err, removeIfEmpty(c.Out))
	}
	result, records, err := r.train(ctx)
	if len(records) == 0 {
		return result, nil, err
	}
	runs := []curves.Run{{Name: runName(r.config.Method, r.config.Edges), Records: records}}
	if err == nil && c.hasBaselines() {
		for _, b := range r.config.baselines() {
			var more *Result
			if more, records, err = trainBaseline(ctx, b, data, o); err != nil {
				break
			}
			result.Baselines = append(result.Baselines, *more)
			runs = append(runs, curves.Run{Name: more.Name(), Records: records})
		}
	}
	return result, runs, err
}

func trainBaseline(ctx context.Context, c Config, data *Data, o TrainOptions) (*Result, []train.Record, error) {
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return nil, nil, err
	}
	name := runName(c.Method, c.Edges)
	o.Log.Info("to compare with: " + name)
	o.Log = o.Log.With("run", name)
	r, err := newRun(c, data, o)
	if err != nil {
		return nil, nil, err
	}
	return r.train(ctx)
}

// hasBaselines reports whether baselines are to be trained too.
func (c *Config) hasBaselines() bool {
	return c.Baselines == "on" || c.Baselines == "auto" && c.Format == formatBuiltin
}

// baselines are the runs that a resolved one is compared with: the same network by another method, and with independent
// labels by the same method. They get the same number of passes.
func (c Config) baselines() []Config {
	def := Default()
	other := c
	other.Method = "sgd"
	if c.Method == "sgd" {
		other.Method = "prox-linear"
	}
	plain := Settings(&def)
	for i, s := range Settings(&other) { // parameters of the method that it was trained with
		if s.Group == "Method" && s.Name != "method" && s.Name != "passes" {
			s.Value.Set(plain[i].Value)
		}
	}
	alone := c
	alone.Edges = "none"
	var all []Config
	for _, b := range []Config{other, alone} {
		b.Baselines = "off"
		name := b.Method
		if b.Edges == "none" {
			name = "independent"
		}
		b.Out = filepath.Join(c.Out, name)
		if c.Resume != "" {
			b.Resume = b.Out
		}
		all = append(all, b)
	}
	return all
}

// removeIfEmpty takes back a folder made for a run that did not begin; one that holds anything stays.
func removeIfEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		return nil
	}
	return os.Remove(dir)
}

// run is one training of one model.
type run struct {
	config  Config // resolved
	data    *Data
	model   *Model
	problem *train.Problem
	method  train.Method
	o       TrainOptions
}

// newRun makes the model and settles everything that c left open.
func newRun(c Config, data *Data, o TrainOptions) (*run, error) {
	m, err := NewModel(c, data)
	if err != nil {
		return nil, err
	}
	m.Version = o.Version
	objective, err := m.Config.objective(m, data.Train)
	if err != nil {
		return nil, err
	}
	r := &run{data: data, model: m, o: o}
	r.problem = &train.Problem{
		Engine: train.NewEngine(objective, cmp.Or(c.Threads, runtime.GOMAXPROCS(0))),
		Batch:  c.Batch, Seed: c.Seed,
	}
	why := ""
	if r.method, why, err = m.Config.chooseMethod(r.problem); err != nil {
		return nil, err
	}
	if why != "" {
		o.Log.Info("method " + m.Config.Method + ": " + why)
	}
	m.Config.Device = "cpu"
	r.config = m.Config
	return r, nil
}

// train runs the method and writes the files of the run folder. The records are those of all passes.
func (r *run) train(ctx context.Context) (*Result, []train.Record, error) {
	c := &r.config
	checkpoint, err := r.checkpoint()
	if err != nil {
		return nil, nil, err
	}
	if err := writeConfig(c); err != nil {
		return nil, nil, err
	}
	metrics, earlier, err := train.OpenMetrics(filepath.Join(c.Out, metricsFile), checkpoint.Pass())
	if err != nil {
		return nil, nil, err
	}
	events, err := tensorboard.NewRecorder(c.Out, earlier)
	if err != nil {
		return nil, nil, errors.Join(err, metrics.Close())
	}
	history := &train.History{Records: earlier}
	recorders := []train.Recorder{metrics, events, history}
	if r.o.Console != nil && !c.Quiet {
		recorders = append(recorders, train.NewProgress(r.o.Console, r.o.Log, c.Passes, checkpoint.Pass()))
	}
	trainer := &train.Trainer{
		Problem: r.problem, Method: r.method,
		Passes: c.Passes, Gap: c.Gap, Patience: c.Patience,
		Evaluate: r.evaluate, Recorders: recorders, Checkpoint: checkpoint,
	}
	out, err := trainer.Run(ctx, newState(r.model.W))
	if out == nil {
		return nil, history.Records, err
	}
	result := r.result(out)
	if err != nil {
		return result, history.Records, err
	}
	r.model.W = out.BestW
	result.Model = filepath.Join(c.Out, modelFile)
	r.o.Log.Info(out.Reason, "method", result.Name(), "kept_pass", out.Best.Pass, "model", result.Model)
	return result, history.Records, r.model.Save(result.Model)
}

// newState is that of a run at w about which nothing is known yet.
func newState(w []float32) *train.State {
	nan := math.NaN()
	return &train.State{W: w, Primal: nan, Dual: nan, Smoothed: nan, Exact: nan, ProxGradient: nan}
}

// checkpoint opens the checkpoint to resume from, or begins one: also where a run ended before its first.
func (r *run) checkpoint() (*train.Checkpoint, error) {
	identity := r.config.identity()
	identity["training data"] = train.Fingerprint(r.data.Train)
	if r.data.Dev != nil {
		identity["development data"] = train.Fingerprint(r.data.Dev)
	}
	dir := filepath.Join(r.config.Out, checkpointFolder)
	if r.config.Resume != "" {
		c, err := train.OpenCheckpoint(dir, identity)
		if !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
		r.o.Log.Info("no checkpoint yet: the run begins again", "folder", r.config.Out)
	}
	return train.NewCheckpoint(dir, identity)
}

// evaluate measures weights on the development and test data.
func (r *run) evaluate(ctx context.Context, w []float32) (dev, test *structured.Metrics, err error) {
	m := *r.model
	m.W = w
	measure := func(d *structured.Dataset) *structured.Metrics {
		if d == nil || d.Len() == 0 || err != nil {
			return nil
		}
		var result structured.Metrics
		result, err = m.Evaluate(ctx, d, false, r.config.Threads)
		return &result
	}
	dev, test = measure(r.data.Dev), measure(r.data.Test)
	return dev, test, err
}

func (r *run) result(out *train.Result) *Result {
	last, c := out.Last, &r.config
	return &Result{
		Task: c.Task, Net: c.Net, Edges: c.Edges, Method: c.Method,
		Passes: last.Pass, Seconds: last.Seconds,
		Objective: last.Objective, Dual: last.Dual, Gap: last.Gap,
		Dev: out.Best.Dev, Test: out.Best.Test, Reason: out.Reason,
	}
}
