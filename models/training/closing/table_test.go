package closing

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/train/record"
)

// The certificate of the last pass is not shown as that of the model if the model has the weights of another pass.
func TestKeptPassHasItsOwnCertificate(t *testing.T) {
	nan := record.Number(math.NaN())
	last := training.Certificate{Objective: 0.5, Dual: 0.495, Gap: 0.005, RelativeGap: 0.01}
	early := training.Certificate{Objective: 0.8, Dual: 0.4, Gap: 0.4, RelativeGap: 0.5}
	head := []string{"", "passes", "seconds", "objective", "certified gap"}
	if rows := Rows([]training.Result{{Method: "sdca", Certificate: training.Certificate{RelativeGap: 1, EstimatedGap: 0.02}}}, nil); rows[0][5] != "estimated gap" || rows[1][5] != "2.00 %" {
		t.Errorf("an estimate ahead of the bound: %q", rows)
	}
	for name, c := range map[string]struct {
		kept *training.Kept
		want [][]string
	}{
		"last pass": {&training.Kept{Pass: 9, Certificate: last}, [][]string{head, {"sdca", "9", "0.0", "0.5", "1.00 %"}}},
		"early pass": {&training.Kept{Pass: 2, Certificate: early}, [][]string{
			append(slices.Clone(head), "kept pass", "objective there", "gap there"), {"sdca", "9", "0.0", "0.5", "1.00 %", "2", "0.8", "50.00 %"}}},
		"without a certificate": {&training.Kept{Pass: 2, Certificate: training.Certificate{Objective: 0.8, Dual: nan, Gap: nan, RelativeGap: nan}}, [][]string{
			append(slices.Clone(head), "kept pass", "objective there"), {"sdca", "9", "0.0", "0.5", "1.00 %", "2", "0.8"}}},
	} {
		rows := Rows([]training.Result{{Method: "sdca", Passes: 9, Certificate: last, Kept: c.kept}}, nil)
		if !slices.EqualFunc(rows, c.want, slices.Equal) {
			t.Errorf("%s: got %q, want %q", name, rows, c.want)
		}
	}
}

// Beside each gap of a relaxed objective the table says so, and beside no other.
func TestTableSaysRelaxed(t *testing.T) {
	gap := training.Certificate{Objective: 0.5, Dual: 0.495, Gap: 0.005, RelativeGap: 0.01}
	kept := &training.Kept{Pass: 2, Certificate: gap}
	rows := Rows([]training.Result{{Passes: 9, Certificate: gap, Kept: kept, Relaxed: true}, {Passes: 9, Certificate: gap, Kept: kept}}, nil)
	for _, head := range []string{"certified gap", "gap there"} {
		k := slices.Index(rows[0], head)
		if k < 0 || rows[1][k] != "1.00 %, relaxed objective" || rows[2][k] != "1.00 %" {
			t.Errorf("%s in %q", head, rows)
		}
	}
}

// A gap that says nothing is not shown as a number alone.
func TestGapThatSaysNothing(t *testing.T) {
	for gap, want := range map[float64]string{0.5: "50.00 %", 0.99: "99.00 %", 0.9999: "100 % (nothing proven)", 1: "100 % (nothing proven)", 2.5: "250 % (nothing proven)"} {
		if got := Gap(record.Number(gap), false); got != want {
			t.Errorf("%v: %q, want %q", gap, got, want)
		}
	}
	if got, want := Gap(1, true), "100 %, relaxed objective (nothing proven)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Gap(record.Number(math.NaN()), false); got != "" {
		t.Errorf("no gap: %q", got)
	}
}
