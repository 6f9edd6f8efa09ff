package traintest

import (
	"math"
	"testing"
)

func Near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s is %.9g, want %.9g", what, got, want)
	}
}

func NearAll(t *testing.T, what string, got, want []float32, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d numbers, want %d", what, len(got), len(want))
	}
	for j := range got {
		Near(t, what, float64(got[j]), float64(want[j]), tol)
	}
}
