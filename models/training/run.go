package training

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/record"
	"github.com/dsp-go/dsp/train/record/tensorboard"
)

// largeGarbage is how much garbage, in per cent of what is in use, may lie beside a large state.
const largeGarbage = 4

// Run is a problem on the device that computes it, with all settings resolved. A problem is run once: its weights and
// its method change.
type Run struct {
	Problem
	home home

	measurers *models.Ranks // that share what is measured on development and test data; nil: there is one process
}

// train runs the method and writes the files of the run folder. The records are those of all passes.
func (r *Run) train(ctx context.Context) (*Result, []record.Record, error) {
	defer r.close()
	r.warnIfMoved()
	r.warnIfLonger()
	c := &r.config
	checkpoint, err := r.checkpoint()
	if err == nil {
		err = agreeOnStart(ctx, checkpoint, r.o)
	}
	if err != nil {
		return nil, nil, err
	}
	if !r.o.leads() {
		return r.follow(ctx, checkpoint)
	}
	checkpoint.Every, checkpoint.Large = c.CheckpointEvery, large(c, r.problem)
	if checkpoint.Large { // a collection looks at few arrays
		was := debug.SetGCPercent(largeGarbage)
		defer debug.SetGCPercent(was)
	}
	if pass := checkpoint.Pass(); pass > 0 {
		r.o.Log.Info("the run goes on from its last checkpoint", "pass", pass)
	}
	if err := writeConfig(c); err != nil {
		return nil, nil, err
	}
	if err := r.model.Save(r.unfinished()); err != nil {
		return nil, nil, err
	}
	metrics, earlier, err := record.OpenMetrics(filepath.Join(c.Out, metricsFile), checkpoint.Pass())
	if err != nil {
		return nil, nil, err
	}
	events, err := tensorboard.NewRecorder(c.Out, earlier)
	if err != nil {
		return nil, nil, errors.Join(err, metrics.Close())
	}
	history := &record.History{Records: earlier}
	recorders := []record.Recorder{metrics, events, history}
	if d, ok := c.Optimiser(); ok && !d.Certified {
		recorders = append(recorders, newRising(r.o.Log, c, earlier))
	}
	if r.o.Console != nil && !c.Quiet {
		progress := record.NewProgress(r.o.Console, r.o.Log, c.Passes, checkpoint.Pass(), r.o.Explained)
		recorders = append(recorders, progress)
		checkpoint.Saved = progress.Saved
	}
	trainer := r.trainer()
	trainer.Recorders, trainer.Checkpoint = recorders, checkpoint
	begun := time.Now()
	from := train.FingerprintOf(r.model.W)
	out, err := trainer.Run(ctx, newState(r.model.W))
	r.sayRate(time.Since(begun))
	if out == nil {
		if structured.IsBadInput(err) && len(history.Records) == 0 && c.Resume == "" {
			err = errors.Join(err, discard(c.Out))
		}
		return nil, history.Records, r.advise(err)
	}
	result := r.result(out)
	if err != nil {
		return result, history.Records, r.advise(err)
	}
	if n := result.Truncated; n > 0 {
		r.o.Log.Warn("cuts are exact only for edges that favour equal labels: others were truncated, and where they were, the objective counts an upper bound of the best score",
			"times", n, "pass", result.Passes)
	}
	if r.data.Dev != nil {
		r.model.W = out.W
		if err := r.model.Save(filepath.Join(c.Out, lastFile)); err != nil {
			return result, history.Records, err
		}
	}
	if c.Init != "" && train.FingerprintOf(out.BestW) == from && !(float64(result.RelativeGap) <= float64(c.Gap)) {
		helps := "more passes"
		if c.Method == "sdca" && c.L1 == 0 {
			helps += ", or --method lbfgs, which goes down from the first one on"
		}
		r.o.Log.Warn("the result has the weights of the model that the run continues: no pass found better ones",
			"passes", result.Passes, "what_helps", helps)
	}
	r.sayIfWorse(out)
	r.model.W = out.BestW
	result.Model = filepath.Join(c.Out, models.ModelFile)
	if c.L1 > 0 || c.Radius > 0 {
		r.o.Log.Info("the model is sparse", "nonzero", engine.Nonzeros(out.BestW), "weights", len(out.BestW))
	}
	far := result.farFromOptimum()
	if far != "" {
		far += largeFeatures(r.data.Train)
	}
	r.o.Log.Info(record.Certified(out.Reason, result.Relaxed && !math.IsNaN(float64(result.Dual)))+far, "method",
		result.Name(), "kept_pass", out.Best.Pass, "model", result.Model)
	if err := r.model.Save(result.Model); err != nil {
		return result, history.Records, err
	}
	return result, history.Records, os.Remove(r.unfinished())
}

// sayIfWorse warns if the model that the run continues does better on development data than every pass: of new data
// alone a run learns nothing about the old.
func (r *Run) sayIfWorse(out *train.Result) {
	of, began := out.Begun.Error()
	if _, ended := out.Best.DevError(); !(began < ended) {
		return
	}
	helps := "--train with the data of that model, too"
	if p := r.config.Prior; p == "" {
		helps += ", or --prior in place of --init"
	}
	r.o.Log.Warn("no pass does better on the development data than the model that the run continues", "by", of,
		"that_model", out.Begun.String(), "best_pass", out.Best.Dev.String(), "what_helps", helps)
}

// unfinished is the path of the model file that says, until the run is finished, what the weights of the checkpoint
// belong to.
func (r *Run) unfinished() string {
	return filepath.Join(r.config.Out, checkpointFolder, models.ModelFile)
}

// sayRate says how fast features came that are not in memory, and whether that or the computation bounds the run, which
// took that long.
func (r *Run) sayRate(took time.Duration) {
	s, ok := r.data.Train.Source.(*localisation.Stream)
	if !ok {
		return
	}
	threads := float64(host.Threads(r.config.Threads))
	spent, bytes := s.Spent()
	share, bound := min(1, spent.Seconds()/(threads*took.Seconds())), "computing"
	if share > 0.5 {
		bound = "reading"
	}
	r.o.Log.Info("features were read from outside memory", "gigabytes", fmt.Sprintf("%.2f", bytes/1e9),
		"per_second", fmt.Sprintf("%.2f GB on each of %.0f threads while reading", bytes/1e9/max(spent.Seconds(), 1e-9),
			threads),
		"share_of_time", fmt.Sprintf("%.0f %%", 100*share), "bound_by", bound)
}

// trainer runs the method as the configuration says. It writes no files.
func (r *Run) trainer() *train.Trainer {
	c := &r.config
	t := &train.Trainer{
		Problem: r.problem, Method: r.method,
		Passes: c.Passes, Gap: float64(c.Gap), Patience: c.Patience,
		Lazy: c.Lazy(), Evaluate: r.evaluate,
	}
	if c.Init != "" && r.data.Dev != nil {
		t.Begin = func(ctx context.Context, w []float32) (*structured.Metrics, error) {
			dev, err := r.measure(ctx, w, r.data.Dev)
			return dev[0], err
		}
	}
	return t
}

// newState is the state of a run at w before its first pass.
func newState(w []float32) *train.State {
	vec.HugePages(w)
	return train.NewState(w)
}

// identity is what tells this run from others: settings and fingerprints of what they name. A checkpoint, or a path, of
// another identity is refused.
func (r *Run) identity() map[string]string {
	identity := identityOf(r.config)
	for _, name := range drawnBy {
		delete(identity, name)
	}
	identity["training data"] = r.fingerprint(r.data.Train)
	if r.data.Dev != nil {
		identity["development data"] = r.fingerprint(r.data.Dev)
	}
	if _, own := nets.HasSetting(r.config.Net, ""); own { // its program may have changed it
		identity["parameters of net "+r.config.Net] = r.model.Net.Layout().String()
	}
	for name, m := range map[string][]float32{"model to start from": r.started(),
		"model to regularise towards": r.model.Prior} {
		if m != nil {
			identity[name] = train.FingerprintOf(m)
		}
	}
	if r.taught != "" {
		identity["marginals of the teacher"] = r.taught
	}
	if e := r.model.Encoder; e != nil {
		identity["rows of the encoder"] = e.ID()
	}
	if v := r.model.Vectors; v != nil {
		identity["vectors of words"] = train.FingerprintOf(v.Rows)
	}
	return identity
}

// checkpoint opens the checkpoint to resume from, or begins one if there is none yet.
func (r *Run) checkpoint() (*train.Checkpoint, error) {
	identity := r.identity()
	dir := filepath.Join(r.config.Out, checkpointFolder)
	if r.config.Resume != "" {
		c, err := train.OpenCheckpoint(dir, identity, slices.Concat(config.PathSettings, drawnBy)...)
		if !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
		r.o.Log.Info("no checkpoint yet: the run starts over", "folder", r.config.Out)
	}
	if !r.o.leads() {
		return nil, nil
	}
	return train.NewCheckpoint(dir, identity)
}

// started returns the weights that a run with --init began with, nil for another run.
func (r *Run) started() []float32 {
	if r.config.Init == "" {
		return nil
	}
	return r.model.W
}

// evaluate measures weights on the development and test data.
func (r *Run) evaluate(ctx context.Context, w []float32) (dev, test *structured.Metrics, err error) {
	all, err := r.measure(ctx, w, r.data.Dev, r.data.Test)
	return all[0], all[1], err
}

// measure measures weights on data; nil of data that are missing or empty.
func (r *Run) measure(ctx context.Context, w []float32, data ...*structured.Dataset) ([]*structured.Metrics, error) {
	m := r.ModelWith(w)
	if r.measurers == nil {
		r.measurers = models.NewRanks(r.o.ranks())
	}
	m.ShareWith(r.measurers)
	all := make([]*structured.Metrics, len(data))
	for k, d := range data {
		if d == nil || d.Len() == 0 {
			continue
		}
		result, err := m.Evaluate(ctx, d, false, r.config.Threads)
		if all[k] = &result; err != nil {
			return all, err
		}
	}
	return all, nil
}

func (r *Run) result(out *train.Result) *Result {
	last, c := out.Last, &r.config
	return &Result{
		Received: r.o.received(),
		Task:     c.Task, Net: c.Net, Edges: c.Edges, Method: c.Method, Oracle: oracleOf(r.model),
		Passes: last.Pass, Ranks: r.o.ranks().Size(), Seconds: last.Seconds,
		Certificate: certificateOf(last), Kept: keptOf(out.Best, last),
		Nonzero: engine.Nonzeros(out.BestW), Relaxed: last.Relaxed, Truncated: last.Truncated,
		Dev: out.Best.Dev, Test: out.Best.Test, Reason: out.Reason,
	}
}
