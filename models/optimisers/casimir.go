package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// Casimir is SVRG accelerated by Catalyst.
var Casimir = builtin(casimir("casimir", "SVRG accelerated by Catalyst, on a smoothed objective", "for linear nets on dense features and the hinge: the narrowest gap", false))

// CasimirAdapt is Casimir whose smoothing follows from the progress.
var CasimirAdapt = builtin(casimir("casimir-adapt", "casimir that adapts its smoothing to its progress", "as casimir, to compare schedules of smoothing", true))

func casimir(name, summary, when string, adaptive bool) *Descriptor {
	return &Descriptor{
		Name: name, Summary: summary, When: when,
		Settings: struct {
			StepSize
			Curvature
			Acceleration
			Batching
		}{},
		Smoothing: Smooths, Certified: true, Prior: true, Ranks: true,
		Inner: "casimir", StepSetting: "lr", Memory: 1,
		Make: func(r *Run) (train.Method, error) {
			start, err := methods.ParseWarmStart(r.WarmStart)
			return &methods.Casimir{Pace: pace(r), Adaptive: adaptive, Kappa: r.Kappa, WarmStart: start, ByNorm: r.InnerStop == "norm"}, err
		},
	}
}
