package oracletest

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Failer is the common interface of *testing.T and *rapid.T.
type Failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Near fails if a number is not within a tolerance of the expected one.
func Near(t Failer, what string, got, want, tolerance float64) {
	t.Helper()
	if got != want && !(math.Abs(got-want) <= tolerance) {
		t.Fatalf("%s is %g, want %g", what, got, want)
	}
}

// NearAll is Near for slices.
func NearAll(t Failer, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range got {
		Near(t, fmt.Sprintf("%s[%d]", what, i), float64(got[i]), float64(want[i]), tolerance)
	}
}

// NearMarginals is Near for all parts of marginals.
func NearMarginals(t Failer, what string, got, want *structured.Marginals, tolerance float64) {
	t.Helper()
	if len(got.Parts) != len(want.Parts) {
		t.Fatalf("%s: %d parts, want %d", what, len(got.Parts), len(want.Parts))
	}
	for k := range want.Parts {
		NearAll(t, what+" of "+want.Parts[k].Name, got.Parts[k].Values, want.Parts[k].Values, tolerance)
	}
}

// nearExample is Near for example i of got and example b of want.
func nearExample(t Failer, what string, got *structured.Marginals, i int, want *structured.Marginals,
	b int, tolerance float64) {
	t.Helper()
	for k := range want.Parts {
		NearAll(t, what+" of "+want.Parts[k].Name, got.Parts[k].Of(i), want.Parts[k].Of(b), tolerance)
	}
}
