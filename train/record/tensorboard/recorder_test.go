package tensorboard

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	trainrecord "github.com/dsp-go/dsp/train/record"
)

func record(pass int) trainrecord.Record {
	nan := trainrecord.Number(math.NaN())
	r := trainrecord.Record{Pass: pass, Seconds: float64(pass), Objective: 0.5, Dual: 0.25, Gap: 0.25, Smoothed: nan, ExactTopK: nan, ProxGradient: nan}
	r.Dev = &structured.Metrics{Measures: []structured.Measure{{Name: "token_error", Value: 0.125}, {Name: "tokens", Value: 9}, {Name: "f1", Value: 0.75}}}
	return r
}

// A resumed run leaves a single file, the same as without a stop.
func TestRecorder(t *testing.T) {
	dir := t.TempDir()
	r, err := NewRecorder(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for pass := 1; pass <= 3; pass++ {
		if err := r.Record(record(pass)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r, err = NewRecorder(dir, []trainrecord.Record{record(1), record(2)})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Record(record(3)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, EventFile))
	if err != nil {
		t.Fatal(err)
	}
	events := read(t, b)
	if len(events) != 4 {
		t.Fatalf("%d events, want 4", len(events))
	}
	for i, e := range events[1:] {
		if e.step != uint64(i+1) || math.Abs(e.time-events[0].time-float64(i+1)) > 1e-6 {
			t.Errorf("event %d: step %d, %v s after the start", i, e.step, e.time-events[0].time)
		}
		for _, want := range []Scalar{{"objective/primal", 0.5}, {"certificate/relative_gap", 0.5}, {"dev/token_error", 0.125}, {"dev/f1", 0.75}} {
			if !slices.Contains(e.scalars, want) {
				t.Errorf("event %d lacks %v: %v", i, want, e.scalars)
			}
		}
		for _, s := range e.scalars {
			if s.Value != s.Value || s.Tag == "test/token_error" || s.Tag == "dev/tokens" {
				t.Errorf("event %d has %v", i, s)
			}
		}
	}
}

func TestUnwritable(t *testing.T) {
	if _, err := NewRecorder(filepath.Join(t.TempDir(), "none"), nil); !structured.IsBadInput(err) {
		t.Errorf("got %v", err)
	}
}
