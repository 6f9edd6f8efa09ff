package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// SAGA reduces the variance of stochastic gradients by those that it remembers.
var SAGA = builtin(&Descriptor{
	Name:    "saga",
	Summary: "variance reduction by remembered gradients, on a smoothed objective",
	When:    "for linear nets, where svrg's full passes cost too much",
	Settings: struct {
		StepSize
		Curvature
		Batching
		Threading
	}{},
	Smoothing: Smooths, Certified: true, Prior: true, Ranks: true, L1OnCPU: true,
	Inner: "saga", StepSetting: "lr", Memory: 2,
	Make: func(r *Run) (train.Method, error) {
		return &methods.SAGA{Pace: pace(r), Async: r.Parallel == "async"}, nil
	},
})
