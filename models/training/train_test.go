package training

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/record/tensorboard"
)

// small is a quick run on a few drawn words.
func small(t *testing.T) config.Config {
	t.Helper()
	c := config.Default()
	c.Examples = settings.Sizes{24, 6, 6}
	c.Net, c.Passes, c.Baselines, c.Batch = "linear", 3, "off", 4
	c.Out = filepath.Join(t.TempDir(), "run")
	return c
}

// everyMethod has the runs that every property of training is tested on.
var everyMethod = map[string]func(*config.Config){
	"sgd":           func(c *config.Config) { c.Method = "sgd" },
	"bcfw":          func(c *config.Config) { c.Method = "bcfw" },
	"svrg":          func(c *config.Config) { c.Method = "svrg" },
	"saga":          func(c *config.Config) { c.Method = "saga" },
	"casimir":       func(c *config.Config) { c.Method, c.Smoothing = "casimir", "l2" },
	"casimir crf":   func(c *config.Config) { c.Method, c.Loss, c.InnerStop = "casimir", "crf", "norm" },
	"casimir-adapt": func(c *config.Config) { c.Method, c.K, c.WarmStart = "casimir-adapt", 0, "extrapolation" },
	"sgd mlp": func(c *config.Config) {
		c.Method, c.Net, c.Hidden, c.Dropout = "sgd", "mlp", settings.Sizes{5}, 0.1
	},
	"prox-linear mlp": func(c *config.Config) {
		c.Method, c.Net, c.Hidden, c.Inner = "prox-linear", "mlp", settings.Sizes{5}, "bcfw"
		c.Passes, c.InnerPasses = 6, 2
	},
	"prox-linear casimir": func(c *config.Config) {
		c.Method, c.Net, c.Hidden, c.Inner = "prox-linear", "mlp", settings.Sizes{5}, "casimir"
		c.Passes, c.InnerPasses = 6, 2
	},
	"prox-linear batches": func(c *config.Config) {
		c.Method, c.Net, c.Hidden, c.Batch, c.Dropout = "prox-linear", "mlp", settings.Sizes{5}, 0, 0.1
		c.ModelBatch, c.InnerSteps, c.Passes, c.Finish = 4, 3, 4, 2
	},
	"adam":     func(c *config.Config) { c.Method, c.Net, c.Hidden, c.WarmUp = "adam", "mlp", settings.Sizes{5}, 0.5 },
	"momentum": func(c *config.Config) { c.Method, c.Momentum, c.Average = "sgd", 0.9, "ema" },
}

// mustTrain trains without drawing curves, and returns the bytes of the model file.
func mustTrain(t *testing.T, c config.Config) []byte {
	t.Helper()
	r, _, _, err := trainAll(context.Background(), c, TrainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	model, err := os.ReadFile(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func TestThreadsDoNotChangeTheModel(t *testing.T) {
	for name, change := range everyMethod {
		t.Run(name, func(t *testing.T) {
			var want []byte
			for _, threads := range []int{1, 2, 7} {
				c := small(t)
				change(&c)
				c.Threads = threads
				model := mustTrain(t, c)
				if want == nil {
					want = model
				} else if !bytes.Equal(model, want) {
					t.Errorf("%d threads make another model than 1", threads)
				}
			}
		})
	}
}

func TestDropoutChangesTheModel(t *testing.T) {
	c := small(t)
	c.Method, c.Net, c.LR = "sgd", "mlp", 0.1
	without := mustTrain(t, c)
	c.Dropout, c.Out = 0.5, c.Out+"2"
	m, err := models.Load(c.Out[:len(c.Out)-1])
	if err != nil || bytes.Equal(without, mustTrain(t, c)) {
		t.Fatal("dropout does nothing", err)
	}
	other, err := models.Load(c.Out)
	if err != nil || slices.Equal(other.W, m.W) {
		t.Error("dropout changes no weight", err)
	}
}

func TestSeedsChangeTheModel(t *testing.T) {
	c := small(t)
	c.Method = "sgd"
	one := mustTrain(t, c)
	c.Seed, c.Out = 2, c.Out+"2"
	if bytes.Equal(one, mustTrain(t, c)) {
		t.Error("two seeds make one model")
	}
}

// stopAfter returns a context that ends once the run's metrics have that many lines.
type stopAfter struct {
	context.Context
	path  string
	lines int
}

func (s stopAfter) Err() error {
	if text, _ := os.ReadFile(s.path); bytes.Count(text, []byte("\n")) >= s.lines {
		return context.Canceled
	}
	return nil
}

func TestResumedRunIsTheSame(t *testing.T) {
	for name, change := range everyMethod {
		t.Run(name, func(t *testing.T) {
			c := small(t)
			change(&c)
			want := mustTrain(t, c)
			wantMetrics := metricsWithoutSeconds(t, c.Out)

			c.Out += "-stopped"
			ctx := stopAfter{context.Background(), filepath.Join(c.Out, metricsFile), 1}
			r, _, _, err := trainAll(ctx, c, TrainOptions{})
			if !errors.Is(err, train.ErrInterrupted) || r == nil || r.Passes == 0 {
				t.Fatalf("interrupted: got %+v, %v", r, err)
			}
			if _, err := os.Stat(filepath.Join(c.Out, models.ModelFile)); err == nil {
				t.Error("an interrupted run left a model")
			}
			resumed, err := ReadRun(c.Out)
			if err != nil {
				t.Fatal(err)
			}
			resumed.Threads = 5
			if !bytes.Equal(mustTrain(t, resumed), want) {
				t.Error("the resumed run made another model")
			}
			if got := metricsWithoutSeconds(t, c.Out); got != wantMetrics {
				t.Errorf("the resumed run's metrics\n%s\nwant\n%s", got, wantMetrics)
			}
		})
	}
}

// A run goes on for longer than it was meant to, and a warning says when its steps would have been others.
func TestResumeForLonger(t *testing.T) {
	for schedule, warns := range map[string]bool{"sqrt": false, "cosine": true} {
		c := small(t)
		c.Method, c.Schedule, c.LR = "sgd", schedule, 0.1
		mustTrain(t, c)
		c, err := ReadRun(c.Out)
		if err != nil {
			t.Fatal(err)
		}
		c.Passes += 2
		var log bytes.Buffer
		r, _, _, err := trainAll(t.Context(), c, TrainOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil || r.Passes != c.Passes {
			t.Fatalf("%+v, %v", r, err)
		}
		if got := strings.Contains(log.String(), "falls over all passes"); got != warns {
			t.Errorf("%s: warned %v, want %v", schedule, got, warns)
		}
	}
}

func TestResumeBeforeTheFirstCheckpoint(t *testing.T) {
	c := small(t)
	c.Method = "sgd"
	want := mustTrain(t, c)
	text, err := os.ReadFile(filepath.Join(c.Out, configFile))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(file(t, configFile, string(text)))
	resumed, err := ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mustTrain(t, resumed), want) {
		t.Error("a run resumed from its configuration made another model")
	}
}

func metricsWithoutSeconds(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, metricsFile))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		delete(m, "seconds")
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(again, '\n'))
	}
	return out.String()
}

func TestTrainedModelPredictsAsMeasured(t *testing.T) {
	c := small(t)
	c.Method = "sgd"
	r, err := Train(context.Background(), c, TrainOptions{Version: "v7"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Load(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	test, err := m.ReadData(models.Request{Path: "builtin", Labels: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Evaluate(context.Background(), test, false, 1)
	if err != nil || !reflect.DeepEqual(got, *r.Test) || m.Version != "v7" {
		t.Errorf("the model of %s has test metrics %+v (%v), measured %+v", m.Version, got, err, *r.Test)
	}
	for _, name := range []string{configFile, metricsFile, models.ModelFile, curvesFile, checkpointFolder, tensorboard.EventFile} {
		if _, err := os.Stat(filepath.Join(c.Out, name)); err != nil {
			t.Error(err)
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"task", "net", "method", "passes", "seconds", "objective", "dual", "gap", "dev", "test", "model"} {
		if !strings.Contains(string(text), `"`+key+`":`) {
			t.Errorf("the result lacks %s: %s", key, text)
		}
	}
	if c, err := config.ReadConfig(filepath.Join(r.Model, "..", configFile)); err != nil || c.Net != "linear" || c.Format != "builtin" || c.Device != "cpu" {
		t.Errorf("resolved configuration %+v, %v", c, err)
	}
}

func TestBaselines(t *testing.T) {
	c := small(t)
	c.Method, c.Baselines, c.Passes = "bcfw", "auto", 2
	r, err := Train(context.Background(), c, TrainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Baselines) != 2 || r.Baselines[0].Method != "sgd" || r.Baselines[1].Edges != "none" || r.Baselines[1].Method != "bcfw" {
		t.Errorf("%+v", r.Baselines)
	}
	for _, b := range r.Baselines {
		if b.Passes != r.Passes || b.Test == nil {
			t.Errorf("%+v", b)
		}
	}
	if name := r.Baselines[1].Name(); name != "bcfw, no edges" {
		t.Errorf("a run without edges is called %q", name)
	}
}

func TestBaselinesOfEveryMethod(t *testing.T) {
	for name, change := range everyMethod {
		c := small(t)
		change(&c)
		c.Finish = 0
		c.Baselines, c.Passes = "on", 1
		r, _, _, err := trainAll(context.Background(), c, TrainOptions{})
		if err != nil || len(r.Baselines) != 2 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	c := small(t)
	c.Method, c.Edges, c.Baselines = "sgd", "none", "on"
	c.Smoothing, c.Mu = "l2", 1
	r, _, _, err := trainAll(context.Background(), c, TrainOptions{})
	if err != nil || len(r.Baselines) != 1 || r.Baselines[0].Method != "prox-linear" {
		t.Errorf("without edges: %+v, %v", r, err)
	}
}

func TestTrainErrors(t *testing.T) {
	occupied := file(t, "occupied", "")
	for want, change := range map[string]func(*config.Config){
		`net "mlp" is not. Use --method prox-linear --inner bcfw`:       func(c *config.Config) { c.Net, c.Method = "mlp", "bcfw" },
		"--method bcfw needs the hinge, not loss crf; use --loss hinge": func(c *config.Config) { c.Method, c.Loss = "bcfw", "crf" },
		"--method sdca needs a smooth loss, not hinge":                  func(c *config.Config) { c.Net, c.Method = "linear", "sdca" },
		"--out":                   func(c *config.Config) { c.Out = filepath.Join(occupied, "x") },
		`label "z!" is not known`: func(c *config.Config) { c.LabelWeights = settings.LabelWeights{"z!": 1} },
		"--label-weights a=-1: expected 0, or a number from 1e-09 to 1e+09":    func(c *config.Config) { c.LabelWeights = settings.LabelWeights{"a": -1} },
		"--class-weights a=1e+30: expected 0, or a number from 1e-09 to 1e+09": func(c *config.Config) { c.ClassWeights = settings.LabelWeights{"a": 1e30} },
		"--class-weights a=1e-200: expected 0, or a number from":               func(c *config.Config) { c.ClassWeights = settings.LabelWeights{"a": 1e-200} },
		"--class-weights a=NaN: expected 0":                                    func(c *config.Config) { c.ClassWeights = settings.LabelWeights{"a": math.NaN()} },
		"--smoothing l2 with --method sgd needs":                               func(c *config.Config) { c.Method, c.Smoothing = "sgd", "l2" },
		"--gap 0.1 needs a certificate":                                        func(c *config.Config) { c.Net, c.Gap = "mlp", 0.1 },
		"--patience 3 needs development data": func(c *config.Config) {
			out := c.Out
			*c = textConfig(file(t, "x.conll", trainConll))
			c.Patience, c.Out = 3, out
		},
		"--hidden 3 has no effect with --net linear": func(c *config.Config) {
			out := c.Out
			*c = textConfig(file(t, "x.conll", trainConll))
			c.Hidden, c.Out = settings.Sizes{3}, out
		},
		"no config.yaml there":            func(c *config.Config) { c.Resume = t.TempDir() },
		"net embed reads discrete inputs": func(c *config.Config) { c.Net = "embed" },
		"difficulty":                      func(c *config.Config) { c.Difficulty = 11 },
	} {
		c := small(t)
		change(&c)
		if _, err := Train(context.Background(), c, TrainOptions{}); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
		if entries, err := os.ReadDir(c.Out); err == nil && !strings.Contains(want, "no config.yaml") {
			t.Errorf("%s: left a folder with %v", want, entries)
		}
	}

	c := small(t)
	c.Method = "sgd"
	mustTrain(t, c)
	if _, err := Train(context.Background(), c, TrainOptions{}); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "there is a run already") {
		t.Errorf("the same folder again: got %v", err)
	}
	resumed, err := ReadRun(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	resumed.Reg = 7
	if _, err := Train(context.Background(), resumed, TrainOptions{}); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "--reg 1, not 7") {
		t.Errorf("resumed with another regulariser: got %v", err)
	}
	resumed.Reg, resumed.Passes = 1, 5
	r, err := Train(context.Background(), resumed, TrainOptions{})
	if err != nil || r.Passes != 5 {
		t.Errorf("resumed for more passes: got %+v, %v", r, err)
	}
}

// Small data leave the collector alone; large ones allow a fixed amount of garbage, and never less than a little share.
func TestGarbageBeside(t *testing.T) {
	for _, c := range []struct {
		bytes         uint64
		percent, want int
	}{{0, 50, 50}, {1 << 20, 50, 50}, {1 << 30, 50, 12}, {1 << 30, 10, 10}, {1 << 40, 50, largeGarbage}, {1 << 30, -1, -1}} {
		if got := garbageBeside(c.bytes, c.percent); got != c.want {
			t.Errorf("%d bytes, at most %d %%: %d %%, expected %d", c.bytes, c.percent, got, c.want)
		}
	}
}

// A run that is interrupted while it reads data ends as interrupted runs do.
func TestInterruptedWhileReading(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := small(t)
	c.Out = filepath.Join(t.TempDir(), "run")
	if r, err := Train(ctx, c, TrainOptions{}); !errors.Is(err, train.ErrInterrupted) || r != nil {
		t.Errorf("%v, %v", r, err)
	}
}
