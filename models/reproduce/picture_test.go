package reproduce

import (
	"math"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/pictures/curves"
	"github.com/dsp-go/dsp/train/record"
)

// A band is the median with the quartiles of the runs that still go on, and ends where fewer than half of them do.
func TestBand(t *testing.T) {
	c := curveResults{name: "a", runs: []*Run{
		runOf([]float64{1, 10, 7}), runOf([]float64{2, 20}), runOf([]float64{3, 30}),
		runOf([]float64{4, 40}), runOf([]float64{5}),
	}}
	got := c.band(quantity{name: "calls"}, quantity{name: "objective"})
	want := []curves.BandPoint{{X: 1, Low: 2, Middle: 3, High: 4}, {X: 2, Low: 17.5, Middle: 25, High: 32.5}}
	if got.Name != "a" || len(got.Points) != 2 {
		t.Fatalf("%+v", got)
	}
	for k, p := range got.Points {
		if p != want[k] {
			t.Errorf("point %d: got %+v, expected %+v", k, p, want[k])
		}
	}
	c.runs = append(c.runs[:0], runOf([]float64{1, 2}, 0.25, math.NaN()))
	if got := c.band(quantity{name: "passes"}, quantity{"dev", "f1"}); len(got.Points) != 1 || got.Points[0].Middle != 25 {
		t.Errorf("%+v", got)
	}
}

// Axes and the table say of bounds of a relaxed objective that they are.
func TestFigureSaysRelaxed(t *testing.T) {
	for _, relaxed := range []bool{false, true} {
		run := &Run{Records: []record.Record{{Pass: 1, Objective: 2, Dual: 1, Gap: 1, Relaxed: relaxed}}}
		f := figureResults{
			Figure: &Figure{X: quantity{"", "passes"},
				Y: []quantity{{"", "objective"}, {"", "gap"}, {"", "dual"}, {"", "suboptimality"}}},
			parts: []partResults{{Part: &Part{}, curves: []curveResults{{"casimir", []*Run{run}}}, bound: 1}},
		}
		for k, panel := range f.picture(nil).Rows[0].Panels {
			if strings.HasSuffix(panel.Y, ", relaxed objective") != (relaxed && k > 0) {
				t.Errorf("relaxed %v: %s", relaxed, panel.Y)
			}
		}
		var text strings.Builder
		f.writeBounds(&text)
		if strings.Contains(text.String(), "1, relaxed objective.") != relaxed {
			t.Error(text.String())
		}
	}
}
