package training

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/pictures/curves"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

// Recorded is what the folder of a run says about it, whether or not the run came to its end.
type Recorded struct {
	Folder   string
	Config   config.Config
	Records  []record.Record // of the passes so far
	Finished bool            // there is a model file
	Model    *models.Model   // nil without one that can be loaded
	Problem  error           // why there is none; nil with a model

	Baselines []Recorded // in folders inside
}

// IsRun reports whether a folder holds a run.
func IsRun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, configFile))
	return err == nil
}

// ReadRecorded reads the folder of a run and those of its baselines. encoder is the folder of its encoder if the model
// refers to one; empty: where the run had it, or beside the model.
func ReadRecorded(dir, encoder string) (*Recorded, error) {
	if !IsRun(dir) {
		return nil, structured.BadInput("%s: no %s there; expected the folder of a run", dir, configFile)
	}
	r := &Recorded{Folder: dir}
	var err error
	if r.Config, err = config.ReadConfig(filepath.Join(dir, configFile)); err != nil {
		return nil, err
	}
	r.Config.Out = dir
	if r.Records, err = record.ReadMetrics(filepath.Join(dir, metricsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r.Model, r.Problem = models.LoadWith(dir, encoded.Source{Folder: encoder})
	_, err = os.Stat(filepath.Join(dir, models.ModelFile))
	r.Finished = err == nil && (r.Model == nil || r.Model.Unfinished == 0)
	inside, err := os.ReadDir(dir)
	if err != nil {
		return nil, structured.BadInput("%w", err)
	}
	for _, f := range inside {
		if path := filepath.Join(dir, f.Name()); f.IsDir() && IsRun(path) {
			b, err := ReadRecorded(path, encoder)
			if err != nil {
				return nil, err
			}
			r.Baselines = append(r.Baselines, *b)
		}
	}
	return r, nil
}

// Name is that of Result.
func (r *Recorded) Name() string {
	oracle := ""
	if r.Model != nil {
		oracle = oracleOf(r.Model)
	}
	return runName(r.Config.Method, r.Config.Edges, oracle)
}

// Curves returns the curves of the run and its baselines.
func (r *Recorded) Curves() []curves.Run {
	all := []curves.Run{{Name: r.Name(), Records: r.Records}}
	for k := range r.Baselines {
		all = append(all, curves.Run{Name: r.Baselines[k].Name(), Records: r.Baselines[k].Records})
	}
	return all
}

// Results returns the results of the passes so far, of the run and its baselines. A run without a pass has none.
func (r *Recorded) Results() []Result {
	var all []Result
	if len(r.Records) > 0 {
		c, last := &r.Config, r.Records[len(r.Records)-1]
		kept, known := last, last // the pass whose certificate is shown: of a run that did not end, the last one with an objective
		for _, x := range slices.Backward(r.Records) {
			if !math.IsNaN(float64(x.Objective)) {
				known = x
				break
			}
		}
		_, least := last.DevError()
		for _, x := range slices.Backward(r.Records) {
			if _, e := x.DevError(); e <= least { // the first of several, as in training
				kept, least = x, e
			}
		}
		result := Result{
			Task: c.Task, Net: c.Net, Edges: c.Edges, Method: c.Method, Passes: last.Pass, Ranks: 1, Seconds: last.Seconds,
			Certificate: certificateOf(known), Kept: keptOf(kept, known),
			Relaxed: last.Relaxed, Truncated: last.Truncated, Dev: kept.Dev, Test: kept.Test,
		}
		if r.Model != nil {
			result.Oracle = oracleOf(r.Model)
		}
		if r.Finished {
			result.Model = filepath.Join(r.Folder, models.ModelFile)
		}
		all = append(all, result)
	}
	for k := range r.Baselines {
		all = append(all, r.Baselines[k].Results()...)
	}
	return all
}
