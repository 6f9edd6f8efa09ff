package training

import (
	"testing"

	"github.com/dsp-go/dsp/models/config"
)

// Advice after divergence names a setting that the method has.
func TestAdviseStep(t *testing.T) {
	for _, x := range []struct {
		method, schedule string
		step             float64
		want             string
	}{
		{"adam", "cosine", 0.25, "Lower --lr (now 0.25)"},
		{"sgd", "sqrt", 0, "Lower --lr"},
		{"sgd", "pegasos", 200, "Use another --schedule, or raise --reg"},
		{"prox-linear", "auto", 0.1, "Lower --eta (now 0.1)"},
		{"bcfw", "auto", 0, "Check the scale of the features, or raise --reg"},
	} {
		c := config.Default()
		c.Method, c.Schedule = x.method, x.schedule
		if got := adviseStep(&c, x.step); got != x.want {
			t.Errorf("%s, %s: %q, want %q", x.method, x.schedule, got, x.want)
		}
	}
}
