package train_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/record"
	"github.com/dsp-go/dsp/train/traintest"
)

// devError evaluates weights by a number that is lowest after the given pass of a run.
func devError(errors ...float64) func(context.Context, []float32) (*structured.Metrics, *structured.Metrics, error) {
	pass := 0
	return func(context.Context, []float32) (dev, test *structured.Metrics, err error) {
		e := errors[pass]
		pass++
		return tokenError(e), nil, nil
	}
}

// script is a method whose passes a test can override; otherwise it runs SGD.
type script struct {
	methods.SGD
	pass func(ctx context.Context, s *train.State) error
}

func (m *script) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := m.SGD.Pass(ctx, p, s); err != nil {
		return err
	}
	if m.pass == nil {
		return nil
	}
	return m.pass(ctx, s)
}

func TestRunStops(t *testing.T) {
	dev := []float64{.5, .4, .45, .3, .35, .33, .2, .1}
	for _, c := range []struct {
		name       string
		trainer    train.Trainer
		last, best int
		reason     string
	}{
		{"passes", train.Trainer{Passes: 4}, 4, 4, "4 passes done"},
		{"one pass", train.Trainer{Passes: 1}, 1, 1, "1 pass done"},
		{"gap", train.Trainer{Passes: 8, Gap: 0.1}, 3, 3, "relative gap 0.05 reached"},
		{"patience", train.Trainer{Passes: 8, Patience: 2, Evaluate: devError(dev...)}, 6, 4, "no better on development data for 2 passes"},
		{"a tie", train.Trainer{Passes: 6, Evaluate: devError(.5, .3, .4, .3, .3, .31)}, 6, 2, "6 passes done"},
		{"patience in a tie", train.Trainer{Passes: 8, Patience: 3, Evaluate: devError(.5, .3, .4, .3, .3, .2)}, 5, 2, "no better on development data for 3 passes"},
		{"best", train.Trainer{Passes: 6, Evaluate: devError(dev...)}, 6, 4, "6 passes done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, s := traintest.LoopProblem()
			var at [][]float32
			history := &record.History{}
			c.trainer.Problem, c.trainer.Recorders = p, []record.Recorder{history}
			c.trainer.Method = &script{SGD: methods.SGD{Rate: 0.1}, pass: func(_ context.Context, s *train.State) error {
				at = append(at, slices.Clone(s.W))
				if c.name == "gap" {
					s.Dual = s.Primal * []float64{-1, 0.5, 0.95}[s.Passes-1]
				}
				return nil
			}}
			r, err := c.trainer.Run(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if r.Last.Pass != c.last || r.Best.Pass != c.best || r.Reason != c.reason {
				t.Errorf("last %d, best %d, reason %q; want %d, %d, %q", r.Last.Pass, r.Best.Pass, r.Reason, c.last, c.best, c.reason)
			}
			if !slices.Equal(r.W, at[c.last-1]) || !slices.Equal(r.BestW, at[c.best-1]) {
				t.Error("the weights are of other passes")
			}
			if len(history.Records) != c.last || history.Records[0].Seconds <= 0 || !math.IsNaN(float64(history.Records[0].ProxGradient)) {
				t.Errorf("records %v", history.Records)
			}
		})
	}
}

// Evaluation and recording do not count towards training time.
// Losses and regulariser are never negative, so a bound below 0 is reported as 0, and the relative gap is at most 1.
func TestBoundsAreNotNegative(t *testing.T) {
	p, s := traintest.LoopProblem()
	history := &record.History{}
	bounds := []float64{-7, math.NaN(), 0.25}
	trainer := train.Trainer{Problem: p, Passes: 3, Recorders: []record.Recorder{history}, Method: &script{SGD: methods.SGD{Rate: 0.1}, pass: func(_ context.Context, s *train.State) error {
		s.Dual, s.Estimate = bounds[s.Passes-1]*s.Primal, math.NaN()
		return nil
	}}}
	if _, err := trainer.Run(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{1, math.NaN(), 0.75} {
		r := history.Records[k]
		if got := r.RelativeGap(); !(math.Abs(got-want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("pass %d: relative gap %v with dual %v, want %v", k+1, got, r.Dual, want)
		}
	}
}

func TestSecondsAreTrainingOnly(t *testing.T) {
	p, s := traintest.LoopProblem()
	tr := train.Trainer{Problem: p, Method: &methods.SGD{Rate: 0.1}, Passes: 3}
	tr.Evaluate = func(context.Context, []float32) (dev, test *structured.Metrics, err error) {
		time.Sleep(500 * time.Millisecond)
		return nil, nil, nil
	}
	begin := time.Now()
	r, err := tr.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if all := time.Since(begin).Seconds(); r.Last.Seconds > all-1.5 {
		t.Errorf("%v s of training in %v s", r.Last.Seconds, all)
	}
}

func newCheckpoint(t *testing.T, dir string) *train.Checkpoint {
	t.Helper()
	c, err := train.NewCheckpoint(dir, map[string]string{"seed": "3"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func openCheckpoint(t *testing.T, dir string) *train.Checkpoint {
	t.Helper()
	c, err := train.OpenCheckpoint(dir, map[string]string{"seed": "3"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// An interrupt in the middle of a pass saves the state before the pass. Resuming gives the bits of an uninterrupted
// run.
func TestInterrupt(t *testing.T) {
	straight := func() *train.Result {
		p, s := traintest.LoopProblem()
		r, err := (&train.Trainer{Problem: p, Method: &methods.SGD{Rate: 0.1}, Passes: 5}).Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}()
	for _, stop := range []int{1, 2, 3, 4, -3, -4} { // below 0: with a large state, of which pass 2 was written
		dir, checkpoint := t.TempDir(), 0
		c := newCheckpoint(t, dir)
		if checkpoint = stop - 1; stop < 0 {
			c.Large, c.Every, stop, checkpoint = true, 2, -stop, 2
		}
		ctx, cancel := context.WithCancel(t.Context())
		p, s := traintest.LoopProblem()
		m := &script{SGD: methods.SGD{Rate: 0.1}, pass: func(ctx context.Context, s *train.State) error {
			if s.Passes == stop {
				s.W[0], s.OracleCalls = 1e9, -1 // the middle of a pass
				cancel()
				return ctx.Err()
			}
			return nil
		}}
		r, err := (&train.Trainer{Problem: p, Method: m, Passes: 5, Checkpoint: c}).Run(ctx, s)
		if !errors.Is(err, train.ErrInterrupted) || !strings.Contains(err.Error(), dir) {
			t.Fatalf("got %v", err)
		}
		if r.Last.Pass != stop-1 || r.W[0] == 1e9 {
			t.Errorf("result is of pass %d, w₀ %v", r.Last.Pass, r.W[0])
		}
		again := openCheckpoint(t, dir)
		if again.Pass() != checkpoint {
			t.Errorf("interrupted in pass %d: the checkpoint is of pass %d, want %d", stop, again.Pass(), checkpoint)
		}
		again.Large = c.Large
		p, s = traintest.LoopProblem()
		r, err = (&train.Trainer{Problem: p, Method: &methods.SGD{Rate: 0.1}, Passes: 5, Checkpoint: again}).Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		r.Last.Seconds, straight.Last.Seconds = 0, 0
		if !slices.Equal(r.W, straight.W) || !reflect.DeepEqual(r.Last.Objective, straight.Last.Objective) || r.Last.OracleCalls != straight.Last.OracleCalls {
			t.Errorf("interrupted in pass %d: other weights at the end\n%+v\n%+v", stop, r.Last, straight.Last)
		}
	}
}

func TestDivergence(t *testing.T) {
	dir := t.TempDir()
	p, s := traintest.LoopProblem()
	m := &script{SGD: methods.SGD{Rate: 0.4, Schedule: methods.ConstantSchedule}, pass: func(_ context.Context, s *train.State) error {
		if s.Passes == 3 {
			s.W[0], s.Primal = float32(math.NaN()), math.NaN()
		}
		return nil
	}}
	_, err := (&train.Trainer{Problem: p, Method: m, Passes: 5, Checkpoint: newCheckpoint(t, dir)}).Run(t.Context(), s)
	want := "pass 3, example 0 (chains, example 0): potentials are NaN, infinite or beyond ±1e30; last good checkpoint is pass 2 in " + dir
	if err == nil || err.Error() != want {
		t.Fatalf("got  %v\nwant %s", err, want)
	}
	var d *train.DivergedError
	if !errors.As(err, &d) || structured.IsBadInput(err) {
		t.Errorf("%T", err)
	}
	if c := openCheckpoint(t, dir); c.Pass() != 2 {
		t.Errorf("the checkpoint is of pass %d", c.Pass())
	}

	p, s = traintest.LoopProblem()
	m.pass = func(_ context.Context, s *train.State) error { s.Primal = math.Inf(1); return nil }
	m.SGD = methods.SGD{Rate: 0.4, Schedule: methods.ConstantSchedule}
	_, err = (&train.Trainer{Problem: p, Method: m, Passes: 5}).Run(t.Context(), s)
	if want := "pass 1: objective is +Inf; there is no good checkpoint"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// failing is a recorder that fails on request.
type failing struct{ record, close error }

func (f *failing) Record(record.Record) error { return f.record }
func (f *failing) Close() error               { return f.close }

func TestRecorderFailure(t *testing.T) {
	full, late := errors.New("disk full"), errors.New("late")
	p, s := traintest.LoopProblem()
	dir := t.TempDir()
	tr := &train.Trainer{Problem: p, Method: &methods.SGD{Rate: 0.1}, Passes: 5, Recorders: []record.Recorder{&failing{full, late}}}
	tr.Checkpoint = newCheckpoint(t, dir)
	if _, err := tr.Run(t.Context(), s); !errors.Is(err, full) || !errors.Is(err, late) || structured.IsBadInput(err) {
		t.Errorf("got %v", err)
	}
}

// Output that cannot be written is reported before training, as bad input.
func TestUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := train.NewCheckpoint(filepath.Join(file, "checkpoint"), nil); !structured.IsBadInput(err) {
		t.Errorf("checkpoint: %v", err)
	}
	if _, _, err := record.OpenMetrics(filepath.Join(file, "metrics.jsonl"), 0); !structured.IsBadInput(err) {
		t.Errorf("metrics: %v", err)
	}
	if _, err := train.OpenCheckpoint(t.TempDir(), nil); !structured.IsBadInput(err) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no checkpoint: %v", err)
	}
}
