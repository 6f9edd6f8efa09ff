package training

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
)

// A convex method is refused for other nets with an inner method that prox-linear has.
func TestAdviseNet(t *testing.T) {
	for method, want := range map[string]string{
		"svrg": "--method prox-linear --inner svrg, or", "casimir-adapt": "--method prox-linear --inner casimir, or", "sdca": "--method prox-linear, or",
	} {
		c := config.Default()
		if err := adviseMethod(&c, train.Refuse(method, train.AffineScores, "x")); !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A method for the hinge that refuses the quadratic loss names methods that take it with default settings.
func TestAdviseQuadratic(t *testing.T) {
	c := config.Default()
	for loss, want := range map[string]string{"quadratic": "; use --method lbfgs, sdca, sgd or adam, or another --loss", "crf": "; use --loss hinge, or --method svrg, sdca or casimir"} {
		c.Loss = loss
		if err := adviseMethod(&c, train.Refuse("bcfw", train.HingeLoss, "x")); !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

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
	c := config.Default()
	c.Method, c.TuneEncoder, c.LR, c.LREncoder = "adam", true, 0.5, 0.25
	if got := adviseStep(&c, 0.25); got != "Lower --lr-encoder (now 0.125) or --lr (now 0.25)" { // half-way down the schedule
		t.Errorf("with an encoder: %q", got)
	}
}

// What a device cannot work on, the CPU can.
func TestAdviseCPU(t *testing.T) {
	err := new(Run).advise(device.Unsupported("a device takes no %s", "trees"))
	if !structured.IsBadInput(err) || err.Error() != "a device takes no trees; use --device cpu" {
		t.Error(err)
	}
}
