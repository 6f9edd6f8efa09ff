package record

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func TestProgress(t *testing.T) {
	record := Record{Pass: 4, Seconds: 1.23456, Objective: 0.123456789, Dual: 0.12, Gap: 0.003456789, ProxGradient: Number(math.NaN()),
		Dev: &structured.Metrics{Measures: []structured.Measure{{Name: "token_error", Value: 0.0123}, {Name: "sequence_error", Value: 0.5}}}}
	var b bytes.Buffer
	l := &progressLog{log: slog.New(slog.NewTextHandler(&b, nil)), explained: new(atomic.Bool)}
	if err := errors.Join(l.Record(record), l.Close()); err != nil {
		t.Fatal(err)
	}
	if want := `msg=trained pass=4 seconds=1.23 objective=0.123457 relative_gap=0.028 dev="token error 1.23 %, sequence error 50.00 %"`; !strings.Contains(b.String(), want) {
		t.Errorf("got %s want %s", b.String(), want)
	}
	if n := strings.Count(b.String(), "relative_gap is a proven bound"); n != 1 || strings.Index(b.String(), "proven") > strings.Index(b.String(), "trained") {
		t.Errorf("%d explanations of the gap before the first: %s", n, b.String())
	}
	b.Reset()
	early := record
	early.Dual, early.Gap, early.EstimatedGap = 0, early.Objective, 0.0123456789
	if err := l.Record(early); err != nil || strings.Contains(b.String(), "relative_gap") || strings.Contains(b.String(), "proven") || !strings.Contains(b.String(), "estimated_gap=0.1") {
		t.Errorf("before the first certificate: %s, %v", b.String(), err)
	}
	b.Reset()
	columns := 100
	bar := newProgressBar(&b, 6, 2, func() int { return columns })
	bar.Saved(3)
	if err := bar.Record(record); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"50%", "━━━━━━──────", "4/6 (3 saved) objective 0.1235, error 1.23 %, gap 0.028", "[0s:0s]"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("bar %q lacks %q", b.String(), want)
		}
	}
	b.Reset()
	columns = 70
	if err := errors.Join(bar.Record(record), bar.Close()); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(b.String(), "\n") { // what comes next would stand beside it
		t.Errorf("bar %q goes on", b.String())
	}
	if !strings.Contains(b.String(), "objective 0.1") || strings.Contains(b.String(), "gap") {
		t.Errorf("bar %q on 60 columns", b.String())
	}
	if f, err := os.Create(filepath.Join(t.TempDir(), "log")); err != nil {
		t.Fatal(err)
	} else if _, ok := NewProgress(f, slog.Default(), 0, 3, new(atomic.Bool)).(*progressLog); !ok {
		t.Error("a bar in a file")
	}
}
