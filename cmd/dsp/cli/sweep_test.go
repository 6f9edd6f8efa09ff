package cli

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/sweep"
)

// Beside each gap of a relaxed objective the table says so, and beside no other.
func TestSweepTableSaysRelaxed(t *testing.T) {
	rows := trialRows(&sweep.Result{Trials: []sweep.Trial{{Objective: 0.5, Gap: 0.005, Relaxed: true}, {Objective: 0.5, Gap: 0.005}}})
	k := slices.Index(rows[0], "certified gap")
	if k < 0 || rows[1][k] != "1.00 %, relaxed objective" || rows[2][k] != "1.00 %" {
		t.Errorf("%q", rows)
	}
}
