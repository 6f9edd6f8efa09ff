// Package training trains models from a configuration.
//
// A training goes one way: settings as given; models.Resolved; models.Raw; models.Data, which has inputs; Problem; Run.
// Each is made by one function from the one before. Each choice is a function that returns it; only the resolvers, in
// files resolve.go, write it down.
package training

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/pictures/curves"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/ranks"
)

// TrainOptions are what Train needs besides the configuration.
type TrainOptions struct {
	Version string        // of this program, for the model file
	Log     *slog.Logger  // gets decisions and their reasons, and progress if there is no terminal; nil: silence
	Console *os.File      // gets a progress bar if it is a terminal; nil: no progress
	Ranks   *ranks.Member // trains together with others; nil: alone

	Explained *atomic.Bool // whether Log says what gaps are, for trainings that share it; nil: it does not yet
}

// Train trains as c says and leaves in the run folder c.Out the resolved configuration, metrics of every pass,
// checkpoints, curves and the model: the weights that did best on the development data, or without such data the last
// ones. Baselines are runs of their own, in folders inside.
//
// When ctx ends, it returns the result so far and train.ErrInterrupted; c.Resume continues from there to the same bits.
// Resuming with another configuration, and a folder that cannot be written, are refused before any work.
func Train(ctx context.Context, c config.Config, o TrainOptions) (*Result, error) {
	result, dir, runs, err := trainAll(ctx, c, o)
	if len(runs) == 0 {
		return result, err
	}
	debug.FreeOSMemory() // the data, before pictures need memory
	return result, errors.Join(err, drawCurves(dir, runs))
}

// trainAll is Train, but returns the run folder and the curves instead of drawing them.
func trainAll(ctx context.Context, given config.Config, o TrainOptions) (result *Result, dir string, runs []curves.Run,
	err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := Agree(ctx, &given, o); err != nil {
		return nil, "", nil, err
	}
	given, forget, err := passFiles(ctx, given, o)
	if err != nil {
		return nil, "", nil, err
	}
	r, c, err := resolveGiven(given)
	if err != nil {
		return nil, "", nil, err
	}
	release := func() error { return nil }
	if o.leads() {
		release, err = makeRunFolder(&c)
	}
	if err == nil {
		err = shareFolder(ctx, &c, o)
	}
	if err != nil {
		return nil, "", nil, err
	}
	defer func() {
		err = errors.Join(err, release())
		if result == nil && o.leads() {
			err = errors.Join(err, removeIfEmpty(c.Out))
		}
	}()
	if o.Several() && c.Encoder == "" && c.Vectors == "" &&
		(c.Device == config.CPU || c.Device == config.AutoDevice) { // a GPU needs features in memory
		r.LeaveFeatures()
	}
	data, err := host.Await(ctx, func() (*models.Data, error) { return r.SharedData(ranks.PeersOf(ctx, o.ranks())) })
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil, "", nil, train.ErrInterrupted
	}
	if c.Resume != "" && errors.Is(err, fs.ErrNotExist) {
		err = structured.BadInput("%w; if the data moved, give its place with --train, --dev or --test: a run resumes on data with the same content", err)
	}
	if err != nil {
		return nil, "", nil, err
	}
	if err := forget(ctx); err != nil {
		return nil, "", nil, err
	}
	r.Remarks().Log(o.Log)
	text.WarnNotUTF8(o.Log, data.Sets()...)
	data.ForgetText()
	defer boundGarbage()()
	result, runs, err = trainOn(ctx, c, data, o)
	return result, c.Out, runs, err
}

// mostGarbage is how many bytes of garbage may lie beside large data.
const mostGarbage = 128 << 20

// boundGarbage gives garbage back to the system, since reading leaves about as much of it as data, and keeps the
// collector from leaving a share of large data as garbage: a collection looks at few arrays. The function that it
// returns ends that.
func boundGarbage() (end func()) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	was := debug.SetGCPercent(largeGarbage)
	debug.SetGCPercent(garbageBeside(m.HeapAlloc, was))
	return func() { debug.SetGCPercent(was) }
}

// garbageBeside returns the garbage that may lie beside so many bytes, in per cent of them, where the process allows
// percent; negative ones allow any.
func garbageBeside(bytes uint64, percent int) int {
	if percent < 0 {
		return percent
	}
	return min(percent, max(largeGarbage, int(100*mostGarbage/max(1, bytes))))
}

// TrainOn is Train on data that was read already. It continues the run in the folder c.Out if there is one.
func TrainOn(ctx context.Context, c config.Config, data *models.Data, o TrainOptions) (result *Result, err error) {
	c = resolveFolder(c)
	release, err := makeRunFolder(&c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	result, runs, err := trainOn(ctx, c, data, o)
	if len(runs) > 0 {
		err = errors.Join(err, drawCurves(c.Out, runs))
	}
	return result, err
}

// trainOn trains on the given data as c says, in the folder c.Out that is there, and its baselines in folders inside.
func trainOn(ctx context.Context, c config.Config, data *models.Data, o TrainOptions) (*Result, []curves.Run, error) {
	if o.Explained == nil {
		o.Explained = new(atomic.Bool) // for the baselines, too
	}
	if data.Choice != nil {
		data.Choice.Make(&c)
	}
	if c.Patience > 0 && data.Dev == nil {
		return nil, nil, structured.BadInput("--patience %d needs development data to watch: give --dev FILE", c.Patience)
	}
	if err := checkPath(&c); err != nil {
		return nil, nil, err
	}
	if c.Path && o.Several() {
		return nil, nil, structured.BadInput("--path: a path is trained by one process; leave out mpirun")
	}
	if c.Path {
		c = resolvePath(c)
	}
	sayData(o.Log, &c, data)
	p, err := host.Await(ctx, func() (*Problem, error) { return NewProblem(c, data, o) }) // a teacher may take long
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil, nil, train.ErrInterrupted
	}
	if err != nil {
		return nil, nil, err
	}
	sayProblem(o.Log, &c, data, p)
	if o.Several() {
		if err := agreeOnData(ctx, data, p); err != nil {
			return nil, nil, err
		}
		if d, ok := p.config.Optimiser(); ok && (d.Blocks || p.config.LocalSteps > 0) {
			o.Log.Info("each process works on examples of its own: the model depends on how many there are", "method", d.Name)
		}
	}
	r, err := p.open()
	if err == nil {
		err = r.closeAfter(r.home.meet(ctx, r))
	}
	if err != nil {
		return nil, nil, err
	}
	if c.Path {
		result, err := r.trainPath(ctx)
		return result, nil, err
	}
	result, records, err := r.train(ctx)
	if len(records) == 0 || !o.leads() {
		return result, nil, err
	}
	runs := []curves.Run{{Name: runName(r.config.Method, r.config.Edges, oracleOf(r.model)), Records: records}}
	if base := r.untrained(); err == nil && base != nil {
		result.Baselines = append(result.Baselines, *base)
	}
	if err == nil && hasBaselines(&c) && !o.Several() {
		for _, b := range r.baselines(result.Passes) {
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
