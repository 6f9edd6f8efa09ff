package sweep

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
)

// Result is the outcome of a sweep: the last object that dsp sweep --json prints.
type Result struct {
	Varied  []string         `json:"varied"`  // names of the settings that vary
	Metric  string           `json:"metric"`  // f1, accuracy, sequence or objective
	Folds   int              `json:"folds"`   // 0: compared on the development data
	Finding string           `json:"finding"` // in words
	Trials  []Trial          `json:"trials"`  // best first, those that failed last
	Best    *training.Result `json:"best"`    // of training with the best setting on all the training data
	Model   string           `json:"model"`   // path of its model file
	Picture string           `json:"picture"` // path
}

// sweep is the state of a sweep.
type sweep struct {
	Config
	o        training.TrainOptions
	metric   metric
	trials   []*trial
	data     *dataSets
	prints   map[string]string // fingerprints of data, by fittedKey
	log      *host.Journal
	building sync.Mutex
}

// Sweep trains with every setting that s asks for, compares them, and leaves in the folder s.Out the configuration
// (sweep.yaml), one line per setting (sweep.jsonl), a picture (sweep.png and .svg) and the run folder of a training
// with the best setting (best), on all the training data.
//
// With development data a setting scores as its best pass does there, as in Train; with folds, as its last weights do
// on the held-out parts, on average. A setting that fails is recorded and the others go on. The result does not
// depend on Jobs or Threads.
//
// Invalid settings are refused before any training. When ctx ends, finished settings are kept, and the error is
// train.ErrInterrupted; s.Resume continues.
func Run(ctx context.Context, s Config, o training.TrainOptions) (best *Result, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	trials, err := s.trials()
	if err != nil {
		return nil, err
	}
	w := &sweep{Config: s, o: o, trials: trials, data: newDataSets(&s, o.Log), prints: map[string]string{}}
	_, err = host.Await(ctx, func() (struct{}, error) { return struct{}{}, w.checkTrials(ctx) })
	switch {
	case errors.Is(err, context.Canceled):
		return nil, train.ErrInterrupted // while it read
	case err != nil:
		return nil, err
	}
	release, err := makeFolder(&w.Config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	err = w.compare(ctx)
	if err == nil {
		var result *Result
		if result, err = w.conclude(ctx); err == nil {
			return result, nil
		}
	}
	if errors.Is(err, train.ErrInterrupted) || errors.Is(err, context.Canceled) {
		done := 0
		for _, t := range w.trials {
			if t.done() {
				done++
			}
		}
		err = fmt.Errorf("%w: %d of %d settings are done and kept; dsp sweep --resume %s continues", train.ErrInterrupted,
			done, len(w.trials), w.Out)
	}
	return nil, err
}

// parts returns the folds that every setting is trained on.
func (s *sweep) parts() []int {
	if s.Folds == 0 {
		return []int{whole}
	}
	parts := make([]int, s.Folds)
	for f := range parts {
		parts[f] = f
	}
	return parts
}

// checkTrials reads the data, chooses the metric, and refuses settings that cannot be trained with.
func (s *sweep) checkTrials(ctx context.Context) error {
	parts := s.parts()
	var library models.Library
	for _, t := range s.trials {
		var err error
		if t.resolved, err = library.Resolve(t.config); err != nil {
			return err
		}
		t.config = t.resolved.Config()
		t.scores = make([]*score, len(parts))
		for _, f := range parts {
			s.data.expect(&t.config, f)
		}
	}
	for k, t := range s.trials {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := t.config
		data, err := s.data.of(t.resolved, parts[0])
		if err != nil {
			return err
		}
		m, err := tasks.Of(&c).ChooseMetric(s.Metric, data.Train.Alphabet, data.Dev)
		switch {
		case err != nil:
			return err
		case k > 0 && m.Name != s.metric.Name:
			return structured.BadInput("--metric auto: with %s it is %s, else %s; choose one", t.name(), m.Name, s.metric.Name)
		case m.Of != nil && (data.Dev == nil || data.Dev.Len() == 0):
			return structured.BadInput("nothing to compare settings on: give --dev FILE, or --folds K for cross-validation")
		case c.Patience > 0 && data.Dev == nil:
			return structured.BadInput("--patience %d needs development data to watch: give --dev FILE", c.Patience)
		}
		s.metric = metric{m}
		if _, err := s.newProblem(c, data); err != nil {
			return fmt.Errorf("with %s: %w", t.name(), err)
		}
		if key := fittedKey(&t.config, parts[0]); s.prints[key] == "" {
			s.prints[key] = fingerprint(data)
		}
		t.Data = s.prints[fittedKey(&t.config, parts[0])]
	}
	return nil
}

// unit is one training: a setting on a fold.
type unit struct {
	trial *trial
	part  int
}

// compare trains with all settings that are not done yet.
func (s *sweep) compare(ctx context.Context) error {
	path := filepath.Join(s.Out, trialsFile)
	earlier := trials{}
	log, err := host.OpenJournal(path, earlier.keep(path))
	if err != nil {
		return err
	}
	s.log = log
	var units []unit
	for _, t := range s.trials {
		was, ok := earlier[t.Number]
		if !ok {
			for part := range t.scores {
				units = append(units, unit{t, part})
			}
			continue
		}
		if err := t.adopt(was, path); err != nil {
			return errors.Join(err, log.Close())
		}
		for _, f := range s.parts() {
			s.data.release(&t.config, f)
		}
	}
	if len(earlier) > 0 {
		s.o.Log.Info("continued", "done", len(s.trials)-len(units)/len(s.parts()), "of", len(s.trials))
	}
	return errors.Join(s.trainAll(ctx, units), log.Close())
}

// adopt takes the results of t from an earlier sweep.
func (t *trial) adopt(was Trial, path string) error {
	then, err1 := json.Marshal(named(was.Settings))
	now, err2 := json.Marshal(t.Settings)
	switch {
	case errors.Join(err1, err2) != nil:
		return errors.Join(err1, err2)
	case string(then) != string(now):
		return structured.BadInput("%s: trial %d has settings %s, expected %s", path, t.Number, then, now)
	case was.Data != t.Data:
		return structured.BadInput("%s: trial %d was on other data; start a new sweep", path, t.Number)
	}
	settings := t.Settings
	t.Trial = was
	t.Settings = settings
	for f := range t.scores {
		t.scores[f] = &score{}
	}
	return nil
}

// named returns settings, some of which may have the names of earlier versions, under those of today.
func named(was map[string]any) map[string]any {
	c := config.Default()
	all, now := config.Settings(&c), map[string]any{}
	for name, value := range was {
		if s, ok := settings.Named(all, name); ok {
			name = s.Name
		}
		now[name] = value
	}
	return now
}

// trainAll trains units, some at once, each with its share of the threads.
func (s *sweep) trainAll(ctx context.Context, units []unit) error {
	threads := host.Threads(s.Threads)
	jobs := min(cmp.Or(s.Jobs, threads), len(units))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		mu     sync.Mutex
		failed error
	)
	err := host.Parallel(jobs, len(units), host.None, func(_ struct{}, k int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		u, done := units[k], &score{}
		if err := host.Guard(func() error {
			done = s.trainFold(ctx, u.trial, s.parts()[u.part], max(1, threads/jobs))
			return nil
		}); err != nil {
			done = &score{err: err}
		}
		mu.Lock()
		defer mu.Unlock()
		err := s.note(ctx, u, done)
		if err != nil && failed == nil {
			failed = err
			stop()
		}
		return err
	})
	return cmp.Or(failed, err)
}

// note keeps the score of a unit, and logs the trial that it completes. It returns an interrupt and a panic as errors.
func (s *sweep) note(ctx context.Context, u unit, done *score) error {
	var panicked *host.PanicError
	switch {
	case ctx.Err() != nil && done.err != nil:
		return ctx.Err()
	case errors.As(done.err, &panicked):
		return fmt.Errorf("with %s: %w", u.trial.name(), done.err)
	}
	t := u.trial
	t.scores[u.part] = done
	s.data.release(&t.config, s.parts()[u.part])
	if !t.done() {
		return nil
	}
	t.finish()
	finished := 0
	for _, other := range s.trials {
		if other.done() {
			finished++
		}
	}
	s.o.Log.Info(fmt.Sprintf("%d/%d %s: %s", finished, len(s.trials), t.name(), t.outcome(s.metric)), "seconds",
		fmt.Sprintf("%.2f", t.Seconds))
	return s.log.Add(t.Trial)
}

// conclude draws the picture and trains with the best setting.
func (s *sweep) conclude(ctx context.Context) (*Result, error) {
	ranked := slices.Clone(s.trials)
	slices.SortStableFunc(ranked, func(a, b *trial) int {
		switch x, y := float64(a.Metric), float64(b.Metric); {
		case s.metric.better(x, y):
			return -1
		case s.metric.better(y, x):
			return 1
		}
		return cmp.Compare(a.Number, b.Number)
	})
	best := ranked[0]
	if best.Error != "" {
		return nil, fmt.Errorf("no setting could be trained with; %s failed: %s", best.name(), best.Error)
	}
	result := &Result{Varied: best.names, Metric: s.metric.Name, Folds: s.Folds,
		Picture: filepath.Join(s.Out, pictureFile)}
	compareWithBest(ranked)
	for _, t := range ranked {
		shown := t.Trial
		shown.Counts = nil // they are for resuming
		result.Trials = append(result.Trials, shown)
	}
	result.Finding = s.finding(best)
	if apart := toldApart(ranked); apart != "" {
		result.Finding += "; " + apart
	}
	picture := s.picture(best)
	for _, path := range []string{result.Picture, strings.TrimSuffix(result.Picture, ".png") + ".svg"} {
		if err := picture.Write(path); err != nil {
			return nil, err
		}
	}
	s.o.Log.Info("training with the best setting: " + best.name())
	var err error
	if result.Best, err = s.trainBest(ctx, best); err != nil {
		return nil, err
	}
	result.Model = result.Best.Model
	return result, nil
}

// trainBest trains with the best setting on all the training data, or resumes that run.
func (s *sweep) trainBest(ctx context.Context, best *trial) (*training.Result, error) {
	c := best.config
	c.Out, c.Resume, c.Baselines = filepath.Join(s.Out, bestFolder), "", "off"
	c.Threads, c.Quiet = s.Threads, s.Quiet
	data, err := s.data.of(best.resolved, whole)
	if err != nil {
		return nil, err
	}
	return training.TrainOn(ctx, c, data, s.o)
}
