package report

import (
	"html"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
)

// drawnRun trains for two passes on few drawn words, with baselines, and returns the folder.
func drawnRun(t *testing.T) string {
	t.Helper()
	c := config.Default()
	c.Task, c.Format, c.Examples, c.Given = "ocr", "builtin", settings.Sizes{30, 8, 12}, settings.Given{"examples"}
	c.Net, c.Passes, c.Baselines, c.Quiet, c.Threads, c.Out = "linear", 2, "on", true, 1,
		filepath.Join(t.TempDir(), "words")
	if _, err := training.Train(t.Context(), c, training.TrainOptions{Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	return c.Out
}

// The report of a run says how it went, how good its model is on the test data, and how it compares with each baseline;
// that of its model file says the same of the data, and nothing of the run.
func TestReportOfARun(t *testing.T) {
	run := drawnRun(t)
	recorded, err := training.ReadRecorded(run, "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Of(t.Context(), Options{Path: run, Threads: 1, Version: "7"})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Measured
	if r.Title != "words" || r.Version != "7" || !strings.HasPrefix(r.Subtitle, "Task ocr, net linear, ") ||
		!strings.HasSuffix(r.Subtitle, "trained on built-in data") {
		t.Errorf("%q, %q, %q", r.Title, r.Subtitle, r.Version)
	}
	if m == nil || m.Part != "test data" || m.Examples != 12 || len(m.Estimates) == 0 || m.Intervals == "" ||
		m.Metrics == nil || len(m.Tables) == 0 || m.Confusion == nil {
		t.Fatalf("%+v", m)
	}
	var baselines []string
	for _, b := range recorded.Baselines {
		if b.Model != nil {
			baselines = append(baselines, b.Name())
		}
	}
	if len(baselines) == 0 || len(m.Against) != len(baselines) || m.Tests == "" {
		t.Errorf("baselines %v, compared with %q, %q", baselines, m.Against, m.Tests)
	}
	for k, name := range baselines {
		if !strings.HasPrefix(m.Against[k], "Against "+name+": ") {
			t.Errorf("%q is about %s", m.Against[k], name)
		}
	}
	if r.Curves == "" || r.Closing == nil || len(r.Settings) == 0 || r.Data == nil || r.Model == nil || r.Finding == "" ||
		m.Worst == nil || m.Calibrated == "" || m.Reliability == "" {
		t.Errorf("curves %d, closing %v, data %v, model %v, %q, %q", len(r.Curves), r.Closing, r.Data,
			r.Model, r.Finding, m.Calibrated)
	}
	page := filepath.Join(t.TempDir(), "report.html")
	if err := r.Write(page); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, text)
	says := strings.ReplaceAll(html.UnescapeString(string(text)), "\u00a0", " ")
	for _, part := range append(slices.Clone(m.Against), "words", r.Closing.Rows[0][0].Text) {
		if !strings.Contains(says, part) {
			t.Errorf("the page does not say %q", part)
		}
	}

	// the model file alone, on the same data
	model := filepath.Join(run, "model.safetensors")
	asked := 0
	alone, err := Of(t.Context(), Options{Path: model, Threads: 1,
		Prepare: func(*models.Model) error { asked++; return nil },
		Read: func(of *models.Model) (*structured.Dataset, error) {
			task, _ := tasks.Named("ocr")
			_, _, test, err := task.Draw(&of.Config)
			return test, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	if asked != 1 || alone.Measured == nil || written(alone.Measured.Metrics) != written(m.Metrics) ||
		alone.Measured.Against != nil || alone.Curves != "" || len(alone.Notes) == 0 {
		t.Errorf("asked %d times: %+v", asked, alone.Measured)
	}
}

// What is no run, sweep or model is bad input, and so is the folder of an encoder that nothing needs.
func TestReportRefuses(t *testing.T) {
	dir := t.TempDir()
	for want, o := range map[string]Options{
		"expected the folder of a run, or a model file": {Path: filepath.Join(dir, "none")},
		"neither config.yaml nor a sweep there":         {Path: dir},
	} {
		if _, err := Of(t.Context(), o); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	w := &writer{o: Options{Path: "x", Encoder: "e"}}
	if err := w.prepare(); !structured.IsBadInput(err) || !strings.Contains(err.Error(),
		"x: there is no model yet that needs the encoder of e") {
		t.Error(err)
	}
	w.run = &training.Recorded{Problem: structured.BadInput("broken")}
	if err := w.prepare(); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "with the encoder of e: broken") {
		t.Error(err)
	}
	w.o.Encoder = ""
	if err := w.prepare(); err != nil {
		t.Error(err)
	}
}
