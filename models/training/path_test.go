package training

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
)

// aPath is a small path that reaches its error.
func aPath(t *testing.T) config.Config {
	c := small(t)
	c.Net, c.Loss, c.Method, c.Passes, c.Batch = "linear", "crf", "sdca", 300, 0
	c.Path, c.PathLow, c.PathHigh, c.PathError = true, 0.3, 30, 0.05
	return c
}

// A path is certified, leaves a model for each breakpoint, and keeps the one that does best on development data.
// Interrupted and resumed with other threads, it is the same to the bit.
func TestPath(t *testing.T) {
	c := aPath(t)
	want := mustTrain(t, c)
	text, err := os.ReadFile(filepath.Join(c.Out, pathFile))
	if err != nil {
		t.Fatal(err)
	}
	var points []Breakpoint
	if err := json.Unmarshal(text, &points); err != nil {
		t.Fatal(err)
	}
	if n := len(points); n < 3 || points[0].Reg != 0.3 || points[n-1].Reg != 30 || points[0].From != 0.3 || points[n-1].To != 30 {
		t.Fatalf("%d breakpoints: %s", n, text)
	}
	best, least := 0, 2.0
	for k, x := range points {
		if k > 0 && (x.From != points[k-1].To || x.From < points[k-1].Reg || x.From > x.Reg) {
			t.Errorf("breakpoint %d at %v is for %v to %v, the one before for up to %v", k, x.Reg, x.From, x.To, points[k-1].To)
		}
		if !(x.RelativeGap <= 0.05/4) {
			t.Errorf("the gap at C = %v is %v", x.Reg, x.RelativeGap)
		}
		m, err := models.Load(x.Model)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(m.Config.Reg); got != x.Reg || m.Config.Path {
			t.Errorf("the model for C = %v has C = %v, path %v", x.Reg, got, m.Config.Path)
		}
		if _, e := x.Dev.Error(); e <= least {
			best, least = k, e
		}
	}
	if one, err := os.ReadFile(points[best].Model); err != nil || !bytes.Equal(one, want) {
		t.Errorf("the run's model is not that for C = %v: %v", points[best].Reg, err)
	}
	for _, name := range []string{"path.png", "path.svg"} {
		if _, err := os.Stat(filepath.Join(c.Out, name)); err != nil {
			t.Error(err)
		}
	}

	stopped := aPath(t)
	ctx := stopAfter{context.Background(), filepath.Join(stopped.Out, pathFile), 1}
	if _, _, _, err := trainAll(ctx, stopped, TrainOptions{}); !errors.Is(err, train.ErrInterrupted) {
		t.Fatalf("interrupted: %v", err)
	}
	resumed, err := ReadRun(stopped.Out)
	if err != nil {
		t.Fatal(err)
	}
	resumed.Threads = 5
	if !bytes.Equal(mustTrain(t, resumed), want) {
		t.Error("the resumed path keeps another model")
	}
	if again, err := os.ReadFile(filepath.Join(stopped.Out, pathFile)); err != nil || withoutSeconds(t, again, stopped.Out) != withoutSeconds(t, text, c.Out) {
		t.Errorf("the resumed path is\n%s\nwant\n%s", again, text)
	}
	if !bytes.Equal(mustTrain(t, resumed), want) { // a finished one
		t.Error("a finished path resumes with another model")
	}
	resumed.PathLow = 0.1
	if _, _, _, err := trainAll(t.Context(), resumed, TrainOptions{}); !structured.IsBadInput(err) {
		t.Errorf("resumed with another end: %v", err)
	}
}

// withoutSeconds returns breakpoints without what differs between runs.
func withoutSeconds(t *testing.T, text []byte, dir string) string {
	t.Helper()
	var points []map[string]any
	if err := json.Unmarshal(text, &points); err != nil {
		t.Fatal(err)
	}
	for _, x := range points {
		delete(x, "seconds")
	}
	out, err := json.Marshal(points)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(out), dir, "")
}

// Settings that do not go with a path are refused, and so is a path without a certificate.
func TestPathErrors(t *testing.T) {
	for want, change := range map[string]func(c *config.Config){
		"two numbers above 0":    func(c *config.Config) { c.PathLow = 0 },
		"the second larger":      func(c *config.Config) { c.PathHigh = 0.2 },
		"between 0 and 1":        func(c *config.Config) { c.PathError = 1 },
		"has no effect with":     func(c *config.Config) { c.Reg, c.Given = 2, append(c.Given, "reg") },
		"has no baselines":       func(c *config.Config) { c.Baselines = "on" },
		"--patience 3":           func(c *config.Config) { c.Patience = 3 },
		"cuda":                   func(c *config.Config) { c.Device = "cuda" },
		"without --path":         func(c *config.Config) { c.Path = false },
		"--path needs a certifi": func(c *config.Config) { c.Method = "sgd" },
		"expected a list of bre": func(c *config.Config) { c.Resume = c.Out },
	} {
		c := aPath(t)
		if want == "expected a list of bre" { // damaged
			if err := os.MkdirAll(c.Out, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := host.WriteFile(filepath.Join(c.Out, configFile), c.Write); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(c.Out, pathFile), []byte("{"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		change(&c)
		if _, _, _, err := trainAll(t.Context(), c, TrainOptions{}); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
