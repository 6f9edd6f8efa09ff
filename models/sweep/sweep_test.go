package sweep

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/record"
)

// file writes a file into a new folder and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// tagConfig tags by embeddings of words.
func tagConfig(train string) config.Config {
	c := config.Default()
	c.Task, c.Train, c.Columns, c.MinCount = "tag", train, "word=0,pos=1,label=-1", 1
	c.Net = "embed"
	return c
}

// small is a quick run on a few drawn words.
func small(t *testing.T) config.Config {
	t.Helper()
	c := config.Default()
	c.Examples = settings.Sizes{24, 6, 6}
	c.Net, c.Passes, c.Baselines, c.Batch = "linear", 3, "off", 4
	c.Out = filepath.Join(t.TempDir(), "run")
	return c
}

// smallSweep is a quick one of two settings and two methods on a few drawn words.
func smallSweep(t *testing.T) Config {
	t.Helper()
	s := Default()
	s.Config = small(t)
	s.Baselines = "auto"
	s.Grid = settings.Ranges{"reg=0.1,1", "method=bcfw,svrg"}
	return s
}

func mustSweep(t *testing.T, s Config) *Result {
	t.Helper()
	r, err := Run(context.Background(), s, training.TrainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// timeless returns trials without what differs between runs, and with NaN as 0 so that they compare equal.
func timeless(trials []Trial) []Trial {
	var all []Trial
	for _, t := range trials {
		t.Seconds = 0
		for _, x := range []*record.Number{&t.Metric, &t.Deviation, &t.Test, &t.Objective, &t.Gap} {
			if math.IsNaN(float64(*x)) {
				*x = 0
			}
		}
		all = append(all, t)
	}
	return all
}

// Each setting of a sweep on development data gives what it gives when trained alone, and the model is that of the
// best.
func TestSweepIsAsTrainingAlone(t *testing.T) {
	s := smallSweep(t)
	r := mustSweep(t, s)
	if len(r.Trials) != 4 || r.Metric != "accuracy" || r.Model != filepath.Join(s.Out, "best", "model.safetensors") {
		t.Fatalf("%+v", r)
	}
	for k, trial := range r.Trials {
		c := small(t)
		c.Reg, c.Method = trial.Settings["reg"].(settings.Strength), trial.Settings["method"].(string)
		alone, err := training.Train(context.Background(), c, training.TrainOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if float64(trial.Metric) != alone.Dev.Get("token_accuracy") ||
			float64(trial.Test) != alone.Test.Get("token_accuracy") ||
			trial.Objective != alone.Objective || trial.Gap != alone.Gap || trial.Passes != alone.Passes {
			t.Errorf("%+v; alone %+v", trial, alone)
		}
		if k > 0 && trial.Metric > r.Trials[k-1].Metric {
			t.Error("not the best first")
		}
		if k > 0 {
			continue
		}
		got, err1 := os.ReadFile(r.Model)
		want, err2 := os.ReadFile(alone.Model)
		if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Error("another model than that of the best setting alone", err1, err2)
		}
	}
	for _, name := range []string{configFile, trialsFile, pictureFile, "best/config.yaml", "best/curves.png"} {
		if _, err := os.Stat(filepath.Join(s.Out, name)); err != nil {
			t.Error(err)
		}
	}
}

// Neither jobs nor threads change a bit of the result.
func TestJobsDoNotMatter(t *testing.T) {
	var first *Result
	var model []byte
	for _, jobs := range []int{1, 3} {
		s := smallSweep(t)
		s.Folds, s.Jobs, s.Threads = 3, jobs, 3
		r := mustSweep(t, s)
		bytesOf, err := os.ReadFile(r.Model)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first, model = r, bytesOf
			continue
		}
		if !reflect.DeepEqual(timeless(r.Trials), timeless(first.Trials)) || r.Finding != first.Finding {
			t.Errorf("%d jobs:\n%+v\nwant\n%+v", jobs, r.Trials, first.Trials)
		}
		if !bytes.Equal(bytesOf, model) {
			t.Errorf("%d jobs made another model", jobs)
		}
	}
	trial := first.Trials[0]
	mean, deviation := meanAndDeviation(trial.Folds)
	if len(trial.Folds) != 3 || trial.Metric != mean || trial.Deviation != deviation ||
		first.Best.Dev != nil || first.Best.Test == nil {
		t.Errorf("%+v, %+v", trial, first.Best)
	}
}

// stopper is a log handler that ends a context after a number of finished settings.
type stopper struct {
	slog.Handler
	left int
	stop func()
}

func (s *stopper) Enabled(context.Context, slog.Level) bool { return true }

func (s *stopper) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "/4 ") {
		if s.left--; s.left == 0 {
			s.stop()
		}
	}
	return nil
}

// A sweep of an earlier version, which knows settings by the names of then, goes on.
func TestSweepsOfEarlierNamesResume(t *testing.T) {
	s := Default()
	s.Grid = settings.Ranges{"cell=16,24", "reg=1"}
	s.Task = "segment"
	all, err := s.trials()
	if err != nil {
		t.Fatal(err)
	}
	for k, was := range []map[string]any{{"cell": 16, "reg": 1}, {"cell-pixels": 24, "reg": 1}} {
		if err := all[k].adopt(Trial{Number: k + 1, Settings: was, Passes: 3}, trialsFile); err != nil {
			t.Errorf("%v: %v", was, err)
		}
		if _, now := all[k].Settings["cell-pixels"]; !now || all[k].Passes != 3 {
			t.Errorf("%v is taken for %+v", was, all[k].Trial)
		}
		other := Trial{Settings: map[string]any{"cell": 17, "reg": 1}}
		if err := all[k].adopt(other, trialsFile); !structured.IsBadInput(err) {
			t.Errorf("other settings: %v", err)
		}
	}
}

// An interrupted sweep keeps finished settings, and resumes with the others to the same result.
func TestResumedSweepIsTheSame(t *testing.T) {
	s := smallSweep(t)
	s.Folds, s.Jobs = 2, 1
	want := mustSweep(t, s)

	s.Out += "-stopped"
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := Run(ended, s, training.TrainOptions{}); !errors.Is(err, train.ErrInterrupted) {
		t.Fatalf("interrupted while it reads: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	log := slog.New(&stopper{Handler: slog.DiscardHandler, left: 2, stop: stop})
	if _, err := Run(ctx, s, training.TrainOptions{Log: log}); !errors.Is(err, train.ErrInterrupted) ||
		!strings.Contains(err.Error(), "2 of 4 settings") {
		t.Fatalf("interrupted: %v", err)
	}
	path := filepath.Join(s.Out, trialsFile)
	half, err := os.ReadFile(path)
	if err != nil || bytes.Count(half, []byte("\n")) != 2 {
		t.Fatalf("%v: %s", err, half)
	}
	if err := os.WriteFile(path, append(half, `{"trial":3,"set`...), 0o666); err != nil { // killed while writing
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), s, training.TrainOptions{}); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "--resume") {
		t.Errorf("begun again in the same folder: %v", err)
	}
	resumed, err := Read(s.Out)
	if err != nil {
		t.Fatal(err)
	}
	other := resumed
	other.Reg = 3
	if _, err := Run(context.Background(), other, training.TrainOptions{}); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "--reg auto, not 3") {
		t.Errorf("resumed as another: %v", err)
	}
	resumed.Jobs = 2
	got := mustSweep(t, resumed)
	if !reflect.DeepEqual(timeless(got.Trials), timeless(want.Trials)) {
		t.Errorf("resumed:\n%+v\nwant\n%+v", got.Trials, want.Trials)
	}
	whole, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(whole, half) || bytes.Count(whole, []byte("\n")) != 4 {
		t.Errorf("%v: %s", err, whole)
	}
	again := mustSweep(t, resumed) // nothing is left to do
	if !reflect.DeepEqual(timeless(again.Trials), timeless(want.Trials)) || again.Best.Passes != want.Best.Passes {
		t.Errorf("resumed after the end: %+v", again)
	}
}

// A setting that diverges becomes a row of its own; the others go on.
func TestSettingsMayFail(t *testing.T) {
	s := smallSweep(t)
	s.Method = "sgd"
	s.Grid = settings.Ranges{"lr=0.1,1e20"}
	r := mustSweep(t, s)
	if r.Trials[0].Settings["lr"] != 0.1 || r.Trials[1].Error == "" || !math.IsNaN(float64(r.Trials[1].Metric)) {
		t.Errorf("%+v", r.Trials)
	}
	s.Grid, s.Out = settings.Ranges{"lr=1e19,1e20"}, s.Out+"2"
	if _, err := Run(context.Background(), s, training.TrainOptions{}); err == nil || structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "no setting") {
		t.Errorf("all fail: %v", err)
	}
	s = smallSweep(t)
	s.Loss = "crf"
	if r := mustSweep(t, s); r.Trials[0].Settings["method"] != "svrg" ||
		!strings.Contains(r.Trials[3].Error, "--method bcfw needs") {
		t.Errorf("a method that the loss is not for: %+v", r.Trials)
	}
}

func TestRandomSweep(t *testing.T) {
	s := smallSweep(t)
	s.Grid, s.Random = settings.Ranges{"reg=log:0.01:100", "method=bcfw,svrg", "batch=lin:1:5"}, 3
	one := mustSweep(t, s)
	s.Out += "2"
	if two := mustSweep(t, s); len(one.Trials) != 3 || !reflect.DeepEqual(timeless(one.Trials), timeless(two.Trials)) {
		t.Errorf("one seed draws\n%+v\nand\n%+v", one.Trials, two.Trials)
	}
}

func TestMetrics(t *testing.T) {
	s := smallSweep(t)
	s.Metric, s.Grid = "objective", settings.Ranges{"reg=1,0.01"}
	r := mustSweep(t, s)
	if r.Trials[0].Settings["reg"] != settings.Strength(0.01) || r.Trials[0].Metric != r.Trials[0].Objective {
		t.Errorf("%+v", r.Trials)
	}
	for name, want := range map[string]string{"auto": "f1", "accuracy": "accuracy", "sequence": "sequence"} {
		if m, err := taskNamed("tag").ChooseMetric(name, structured.NewAlphabet("O", "B-X", "I-X"), nil); err != nil ||
			m.Name != want {
			t.Errorf("%s of entity tags: %s, %v", name, m.Name, err)
		}
	}
	for name, want := range map[string]string{"auto": "las", "las": "las", "uas": "uas", "objective": "objective"} {
		if m, err := taskNamed("parse").ChooseMetric(name, structured.NewAlphabet("det", "root"), nil); err != nil ||
			m.Name != want {
			t.Errorf("%s of trees: %s, %v", name, m.Name, err)
		}
	}
	for task, name := range map[string]string{"tag": "las", "ocr": "uas", "parse": "accuracy"} {
		if _, err := taskNamed(task).ChooseMetric(name, structured.NewAlphabet("a", "b"), nil); !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), "--metric "+name) {
			t.Errorf("%s with --task %s: %v", name, task, err)
		}
	}
	partial := &structured.Dataset{Name: "dev", Offsets: []int{0, 2}, Labels: []int32{0, -1}, LabelSets: [][]int32{nil}}
	if m, err := taskNamed("tag").ChooseMetric("auto", structured.NewAlphabet("O", "B-X", "I-X"), partial); err != nil ||
		m.Name != "accuracy" {
		t.Errorf("auto where no sequence is known throughout: %s, %v", m.Name, err)
	}
	if _, err := taskNamed("tag").ChooseMetric("f1", structured.NewAlphabet("O", "B-X", "I-X"),
		partial); !structured.IsBadInput(err) {
		t.Errorf("f1 where no sequence is known throughout: %v", err)
	}
	m := structured.Metrics{Measures: []structured.Measure{{Name: "token_accuracy", Value: 0.9},
		{Name: "sequence_error", Value: 0.75}}}
	for _, by := range taskNamed("tag").Metrics {
		if by.Name == "sequence" && (metric{by}).measure(&m) != 0.25 || by.Name == "accuracy" &&
			(metric{by}).measure(&m) != 0.9 {
			t.Errorf("%s: %v", by.Name, (metric{by}).measure(&m))
		}
	}
}

// Invalid sweeps are refused before any training, and leave no files.
func TestSweepErrors(t *testing.T) {
	text := file(t, "train.conll", "a\tn\tX\nb\tn\tY\n\na\tn\tX\n")
	for want, change := range map[string]func(*Config){
		"nothing varies":              func(s *Config) { s.Grid = nil },
		"with batch=-1, method=bcfw":  func(s *Config) { s.Grid[0] = "batch=1,-1" },
		`did you mean "reg"`:          func(s *Config) { s.Grid[0] = "regg=1" },
		"(did you mean bcfw?)":        func(s *Config) { s.Grid[1] = "method=bfcw" },
		"has no effect with --method": func(s *Config) { s.Grid[0] = "kappa=1,2" },
		"at least 2":                  func(s *Config) { s.Folds = 1 },
		"--folds 25":                  func(s *Config) { s.Folds = 25 },
		"--folds -1":                  func(s *Config) { s.Folds = -1 },
		"not entity tags":             func(s *Config) { s.Metric = "f1" },
		"accuarcy":                    func(s *Config) { s.Metric = "accuarcy" },
		"--random N":                  func(s *Config) { s.Grid[0] = "reg=log:1:2" },
		"combinations":                func(s *Config) { s.Grid = settings.Ranges{"reg=log:1:9:9999", "mu=log:1:9:9999"} },
		"--patience 2 watches":        func(s *Config) { s.Folds, s.Patience = 2, 2 },
		"--baselines on":              func(s *Config) { s.Baselines = "on" },
		"give --dev FILE, or --folds": func(s *Config) {
			s.Config = tagConfig(text)
			s.Grid = settings.Ranges{"reg=1,2"}
		},
		"say what settings are compared on": func(s *Config) {
			s.Config = tagConfig(text)
			s.Grid, s.Dev, s.Folds = settings.Ranges{"reg=1,2"}, text, 2
		},
		"no sweep.yaml there": func(s *Config) { s.Resume = t.TempDir() },
	} {
		s := smallSweep(t)
		out := s.Out
		change(&s)
		s.Out = out
		if _, err := Run(context.Background(), s, training.TrainOptions{}); !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: left a folder", want)
		}
	}
}

// A sweep's configuration survives its file.
func TestSweepConfigFile(t *testing.T) {
	s := smallSweep(t)
	s.Random, s.Folds, s.Metric, s.Jobs, s.Hidden = 3, 4, "sequence", 2, settings.Sizes{3, 4}
	var text bytes.Buffer
	if err := s.Write(&text); err != nil {
		t.Fatal(err)
	}
	again, err := ReadConfig(file(t, "sweep.yaml", text.String()))
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("%v: %+v\nwant %+v\n%s", err, again, s, text.String())
	}
	for content, message := range map[string]string{
		"grid: reg=1,2\n":     `sweep.yaml:1: grid: expected a list of ranges`,
		"reg: 1\nmetrics: f1": `sweep.yaml:2: unknown setting "metrics"; did you mean "metric"`,
	} {
		if _, err := ReadConfig(file(t, "sweep.yaml", content)); !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), message) {
			t.Errorf("%q: %v", content, err)
		}
	}
}

func taskNamed(name string) tasks.Task {
	t, _ := tasks.Named(name)
	return t
}

// --metric takes auto, the metrics of every task, the objective, and nothing else.
func TestMetricSettingListsTheTasks(t *testing.T) {
	want := []string{"auto"}
	for _, task := range tasks.All() {
		for _, m := range task.Metrics {
			if !slices.Contains(want, m.Name) {
				want = append(want, m.Name)
			}
		}
	}
	want = append(want, "objective")
	c := Default()
	if s, ok := settings.Named(Settings(&c), "metric"); !ok || !slices.Equal(s.Values, want) {
		t.Errorf("--metric takes %q, want %q", s.Values, want)
	}
}

// What varies in a sweep is given in its trials, also a default value.
func TestVariedSettingsAreGiven(t *testing.T) {
	s := smallSweep(t)
	s.Grid = settings.Ranges{"k=5,7"}
	trials, err := s.trials()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range trials {
		if !x.config.Gives("k") {
			t.Errorf("%s is not given", x.name())
		}
	}
	if s.Gives("k") {
		t.Error("the sweep's own settings changed")
	}
}
