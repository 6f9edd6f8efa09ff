package report

import (
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/structured"
)

// A report says by what the worst examples are ordered: their measure where they have one, else how sure the model was,
// or how often it was wrong. Where no example is wrong there are none, and nothing is measured by.
func TestOrderOfTheWorst(t *testing.T) {
	worth := 0.25
	measured := []review.Example{{Where: "x", Measure: "overlap", Value: &worth, Parts: []review.Part{{Kind: "link"}}}}
	for want, found := range map[string]*review.Review{
		"those with the most mistakes":                              {All: 3},
		"those in which the model was most sure of something wrong": {All: 3, Probabilities: true},
		"those with the lowest overlap": {All: 3, Wrong: 1,
			Probabilities: true, Examples: measured},
	} {
		w := &writer{model: &models.Model{Config: config.Default()}}
		w.model.Config.Task = "align"
		var to Measured
		if err := w.worst(&to, new(structured.Dataset), found); err != nil {
			t.Fatal(err)
		}
		got := to.Worst
		if got.Order != want || len(got.Examples) != len(found.Examples) || got.Wrong != found.Wrong || got.All != 3 {
			t.Errorf("%+v, want %d examples, %s", got, len(found.Examples), want)
		}
		for _, e := range got.Examples {
			if e.About != "overlap 0.2500" {
				t.Errorf("an example is about %q", e.About)
			}
		}
	}
}
