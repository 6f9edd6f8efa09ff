package sweep

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/review/intervals"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train/record"
)

// Trial is the outcome of one setting in a sweep: a line of sweep.jsonl. Missing numbers are NaN, null in JSON.
type Trial struct {
	Number   int            `json:"trial"`    // from 1, in the order of the grid
	Settings map[string]any `json:"settings"` // what varies
	// on the development data; with folds, the mean over them; or the objective
	Metric record.Number `json:"metric"`
	// standard deviation of the metric over folds, or over data sets like the development data
	Deviation record.Number   `json:"sd"`
	Folds     []record.Number `json:"folds,omitempty"`
	Test      record.Number   `json:"test"`      // the metric on the test data; not with folds
	Objective record.Number   `json:"objective"` // as in Result; with folds the mean
	Gap       record.Number   `json:"gap"`
	Relative  record.Number   `json:"relative_gap"`      // gap/|objective|
	Relaxed   bool            `json:"relaxed,omitempty"` // as in metrics.jsonl
	Passes    int             `json:"passes"`            // with folds the most
	Seconds   float64         `json:"seconds"`           // of training; with folds their sum
	Error     string          `json:"error,omitempty"`
	Data      string          `json:"data,omitempty"` // fingerprint

	Counts intervals.Counts `json:"counts,omitempty"` // in sweep.jsonl: what the metric on the development data is made of
	Behind *Behind          `json:"behind,omitempty"` // in Result: how far the setting is behind the best one
}

// RelativeGap returns the gap relative to the objective, which lines of older versions do not have.
func (t *Trial) RelativeGap() record.Number {
	return t.Gap / record.Number(math.Abs(float64(t.Objective)))
}

// Behind is the difference of a setting to the best one, on the same development data.
type Behind struct {
	Difference float64 `json:"difference"` // of the metrics, not negative
	Deviation  float64 `json:"sd"`
	Low        float64 `json:"low"` // 95 % interval
	High       float64 `json:"high"`
	P          float64 `json:"p_holm"` // of the test that the settings are alike, corrected for the number of settings
}

// trial is a Trial in progress.
type trial struct {
	Trial
	config        config.Config    // as given, then as resolved
	resolved      *models.Resolved // config, once the trial is checked
	names, values []string         // of what varies, in the order of the grid
	scores        []*score         // of each fold, nil until done
}

// name describes the setting, as in "reg=1, method=sdca".
func (t *trial) name() string {
	var parts []string
	for k, name := range t.names {
		parts = append(parts, name+"="+t.values[k])
	}
	return strings.Join(parts, ", ")
}

// score is how training on one fold, or on all the training data, went.
type score struct {
	metric, test, objective, gap record.Number
	relaxed                      bool
	passes                       int
	seconds                      float64
	counts                       intervals.Counts // of the metric, on development data
	err                          error
}

// trainFold trains with the setting on one fold, or the whole, with the given number of threads.
func (s *sweep) trainFold(ctx context.Context, t *trial, fold, threads int) *score {
	c := t.config
	data, err := host.Await(ctx, func() (*models.Data, error) { return s.data.of(t.resolved, fold) })
	if err != nil {
		return &score{err: err}
	}
	c.Threads = threads
	r, err := s.newProblem(c, data)
	if err != nil {
		return &score{err: err}
	}
	out, err := r.TrainOnly(ctx, fold == whole) // no weights are chosen on held-out examples
	if err != nil {
		return &score{err: err}
	}
	dev, test := out.Best.Dev, out.Best.Test
	last := out.Last
	done := &score{
		metric: s.metric.measure(dev), test: s.metric.measure(test),
		objective: last.Objective, gap: last.Gap, relaxed: last.Relaxed, passes: last.Pass, seconds: last.Seconds,
	}
	switch {
	case s.metric.Of == nil:
		done.metric = last.Objective
	case fold == whole && data.Dev != nil && data.Dev.Len() > 1:
		if done.counts, err = s.count(ctx, r, out.BestW, data, threads); err != nil {
			return &score{err: err}
		}
	}
	return done
}

// newProblem makes a problem that logs nothing; networks are built one at a time.
func (s *sweep) newProblem(c config.Config, data *models.Data) (*training.Problem, error) {
	s.building.Lock()
	defer s.building.Unlock()
	return training.NewProblem(c, data, training.TrainOptions{Version: s.o.Version, Log: slog.New(slog.DiscardHandler)})
}

// finish sums up the scores of all folds.
func (t *trial) finish() {
	var metrics, tests, objectives, gaps []record.Number
	t.Passes, t.Seconds, t.Relaxed = 0, 0, false
	for _, f := range t.scores {
		if f.err != nil {
			t.fail(f.err)
			return
		}
		metrics, tests = append(metrics, f.metric), append(tests, f.test)
		objectives, gaps = append(objectives, f.objective), append(gaps, f.gap)
		t.Passes, t.Relaxed = max(t.Passes, f.passes), t.Relaxed || f.relaxed
		t.Seconds += f.seconds
	}
	t.Metric, t.Deviation = meanAndDeviation(metrics)
	t.Test, _ = meanAndDeviation(tests)
	t.Objective, _ = meanAndDeviation(objectives)
	t.Gap, _ = meanAndDeviation(gaps)
	t.Relative = t.RelativeGap()
	if len(t.scores) > 1 {
		t.Folds = metrics
	} else if t.Counts = t.scores[0].counts; t.Counts != nil {
		t.Deviation = record.Number(t.Counts.Interval().Deviation)
	}
}

// fail marks t as failed.
func (t *trial) fail(err error) {
	nan := record.Number(math.NaN())
	t.Metric, t.Deviation, t.Test, t.Objective, t.Gap, t.Relative = nan, nan, nan, nan, nan, nan
	t.Error = err.Error()
}

// done reports whether all folds are done.
func (t *trial) done() bool { return !slices.Contains(t.scores, nil) }

// outcome describes the result of t in a few words.
func (t *Trial) outcome(m metric) string {
	if t.Error != "" {
		return "failed: " + t.Error
	}
	text := m.Label + " " + m.show(t.Metric)
	if !math.IsNaN(float64(t.Deviation)) {
		text += " ± " + m.show(t.Deviation)
	}
	return text
}

// show writes a value of the metric: a fraction as a percentage.
func (m metric) show(x record.Number) string {
	if m.Of == nil {
		return fmt.Sprintf("%.5g", float64(x))
	}
	return fmt.Sprintf("%.2f %%", 100*float64(x))
}
