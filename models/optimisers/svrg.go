package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// SVRG reduces the variance of stochastic gradients by a full gradient in every epoch.
var SVRG = builtin(&Descriptor{
	Name:    "svrg",
	Summary: "variance reduction by full gradients, on a smoothed objective",
	When:    "for linear nets on dense features and smooth losses",
	Settings: struct {
		StepSize
		Curvature
		Batching
	}{},
	Smoothing: Smooths, Certified: true, Prior: true, Ranks: true, L1OnCPU: true,
	Inner: "svrg", StepSetting: "lr", Memory: 1,
	Make: func(r *Run) (train.Method, error) { return &methods.SVRG{Pace: pace(r)}, nil },
})

// pace is the step length of the methods with variance reduction.
func pace(r *Run) methods.Pace {
	return methods.Pace{Step: r.LR, Lipschitz: r.Lipschitz, FromCenter: r.Continues}
}
