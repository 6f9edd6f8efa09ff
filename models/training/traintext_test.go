package training

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// noisy is text whose labels can be memorised, which makes new text worse.
const noisy = "a O\nb B-X\nc I-X\n\na B-X\nd O\nc O\n\nb I-X\na O\nd B-X\n\nc O\nc B-X\n"

func trainText(t *testing.T, change func(*config.Config)) (*Result, config.Config) {
	t.Helper()
	c := config.Default()
	c.Train, c.Out, c.Quiet = file(t, "train.conll", noisy), t.TempDir(), true
	change(&c)
	r, err := Train(context.Background(), c, TrainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

// Convex methods stop at a gap by default, not with --gap 0, and on bad development data when patience runs out.
func TestConvexMethodsStop(t *testing.T) {
	for _, method := range []string{"auto", "svrg", "sdca", "bcfw", "casimir"} {
		r, _ := trainText(t, func(c *config.Config) { c.Method = method })
		if gap := float64(r.Gap) / float64(r.Objective); method != "bcfw" && (!(gap <= 1e-3) || r.Passes >= 100) {
			t.Errorf("%s: stopped at a relative gap of %v after %d passes: %s", method, gap, r.Passes, r.Reason)
		}
		r, _ = trainText(t, func(c *config.Config) { c.Method, c.Gap, c.Passes = method, 0, r.Passes+1 })
		if !strings.Contains(r.Reason, "passes done") && !strings.Contains(r.Reason, "can do no more") {
			t.Errorf("%s: without a gap to reach, %s", method, r.Reason)
		}
		r, c := trainText(t, func(c *config.Config) {
			c.Method, c.Gap, c.Patience, c.Passes = method, 0, 2, 60
			c.Dev = file(t, "dev.conll", strings.NewReplacer("a O", "a B-X", "b B-X", "b O").Replace(noisy))
		})
		if !strings.Contains(r.Reason, "no better on development data for 2 passes") {
			t.Errorf("%s: %s", method, r.Reason)
		}
		if r.EstimatedGap != 0 {
			t.Errorf("%s: without patience, the certified gap is %v, and an estimate says %v", method, r.RelativeGap, r.EstimatedGap)
		}
		best, err1 := models.Load(c.Out)
		last, err2 := models.Load(filepath.Join(c.Out, lastFile))
		if err := cmp.Or(err1, err2); err != nil {
			t.Fatal(err)
		}
		if _, ok := r.Dev.Types["X"]; !ok || best.Dictionary.Nodes() != last.Dictionary.Nodes() {
			t.Errorf("%s: %+v", method, r.Dev)
		}
	}
	_, c := trainText(t, func(*config.Config) {})
	if _, err := os.Stat(filepath.Join(c.Out, lastFile)); err == nil {
		t.Error("without development data there is a last model besides the only one")
	}
}

// A model of attributes is the same for any number of threads.
func TestTextThreads(t *testing.T) {
	var want []byte
	train := file(t, "train.conll", noisy)
	for _, threads := range []int{1, 3} {
		_, c := trainText(t, func(c *config.Config) { c.Train, c.Threads = train, threads })
		got, err := os.ReadFile(filepath.Join(c.Out, models.ModelFile))
		if err != nil {
			t.Fatal(err)
		}
		if want != nil && !bytes.Equal(got, want) {
			t.Errorf("%d threads: another model than one", threads)
		}
		want = got
	}
}

// Gold labels that break the constraints are refused, with their line.
func TestBrokenConstraints(t *testing.T) {
	c := config.Default()
	c.Train, c.Constraints, c.Out = file(t, "train.conll", "a I-X\nb I-X\nc B-X\n\nd O\n"), "iob2", t.TempDir()
	if _, err := Train(context.Background(), c, TrainOptions{}); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "train.conll:1: I-X starts a sequence") {
		t.Errorf("broken constraints: got %v", err)
	}
}

// The log says which attributes were chosen and why, and nothing where they were given.
func TestLogOfAttributes(t *testing.T) {
	for given, want := range map[string]string{"auto": "features=ner why=\"entity tags\"", "ner": ""} {
		var log bytes.Buffer
		c := config.Default()
		c.Train, c.Out, c.Passes, c.Features = file(t, "train.conll", noisy), t.TempDir(), 1, given
		if _, err := Train(context.Background(), c, TrainOptions{Log: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(log.String(), "attributes of tokens"); got != (want != "") || !strings.Contains(log.String(), want) {
			t.Errorf("--features %s: no %q, or too much, in\n%s", given, want, &log)
		}
	}
}

// Columns without a name draw a warning, unless --columns left them out.
func TestWarningOfUnnamedColumns(t *testing.T) {
	for columns, warned := range map[string]bool{"": true, "word=0,label=-1": false} {
		var log bytes.Buffer
		c := config.Default()
		c.Train, c.Out, c.Passes, c.Columns = file(t, "train.conll", strings.ReplaceAll(noisy, " ", " X ")), t.TempDir(), 1, columns
		if columns != "" {
			c.Given = settings.Given{"columns"}
		}
		if _, err := Train(context.Background(), c, TrainOptions{Log: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(log.String(), "columns without a name are not read"); got != warned {
			t.Errorf("--columns %q: warned %v, want %v", columns, got, warned)
		}
	}
}
