package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/sweep"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

// The finding and the table of a sweep say of the gap of a relaxed objective that it is one.
func TestReportSaysRelaxed(t *testing.T) {
	nan := record.Number(math.NaN())
	for relaxed, want := range map[bool]string{
		false: "left a certified relative gap of 1.00 %.",
		true:  "left a certified relative gap of 1.00 %, relaxed objective.",
	} {
		r := record.Record{Pass: 3, Objective: 0.5, Dual: 0.495, Gap: 0.005, ProxGradient: nan, Relaxed: relaxed}
		w := &writer{run: &training.Recorded{Records: []record.Record{r}, Config: config.Default()}}
		w.find(&w.run.Config)
		if !strings.HasSuffix(w.Finding, want) {
			t.Errorf("%q, want %q at its end", w.Finding, want)
		}
		table := trialTable(&sweep.Recorded{Trials: []sweep.Trial{{Objective: 0.5, Gap: 0.005, Relaxed: relaxed}}})
		k := slices.Index(table.Head, "certified gap")
		if k < 0 || strings.Contains(table.Rows[0][k].Text, "1.00 %, relaxed objective") != relaxed {
			t.Errorf("%+v", table)
		}
	}
}

// A run that was interrupted before its bound was certified says what was estimated beside what is proven.
func TestReportSaysEstimated(t *testing.T) {
	r := record.Record{Pass: 3, Objective: 0.5, Dual: 0, Gap: 0.5, EstimatedGap: 0.01,
		ProxGradient: record.Number(math.NaN())}
	w := &writer{run: &training.Recorded{Records: []record.Record{r}, Config: config.Default()}}
	w.find(&w.run.Config)
	if want := "a certified relative gap of 100 % (nothing proven), by an estimate that " +
		"nothing proves 2.00 %."; !strings.HasSuffix(w.Finding, want) {
		t.Errorf("%q, want %q at its end", w.Finding, want)
	}
}

// Where development data choose an earlier pass, the finding says the gap of that one, too.
func TestReportSaysKeptPass(t *testing.T) {
	error := func(x float64) *structured.Metrics {
		return &structured.Metrics{Measures: []structured.Measure{{Name: "token_error", Value: x}}}
	}
	nan := record.Number(math.NaN())
	first := record.Record{Pass: 1, Objective: 1, Dual: 0.5, Gap: 0.5, ProxGradient: nan, Dev: error(0.1)}
	last := record.Record{Pass: 2, Objective: 0.8, Dual: 0.792, Gap: 0.008, ProxGradient: nan, Dev: error(0.2)}
	w := &writer{run: &training.Recorded{Records: []record.Record{first, last}, Config: config.Default()}}
	w.find(&w.run.Config)
	if want := "left a certified relative gap of 1.00 %; the model is that of pass 1, which did best on development " +
		"data, where the gap was 20.80 %."; !strings.HasSuffix(w.Finding, want) {
		t.Errorf("%q, want %q at its end", w.Finding, want)
	}
}
