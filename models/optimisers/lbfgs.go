package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
)

// LBFGS is the limited-memory quasi-Newton method.
var LBFGS = &Descriptor{
	Name:    "lbfgs",
	Summary: "gonum's L-BFGS, on all examples at once; no step size",
	When:    "for linear nets and smooth objectives: the batch reference; for labels known in part",
	Losses:  SmoothObjectives, Smoothing: Smooths, Certified: true, Partial: true, Prior: true,
	Passes: 500,
	Make:   func(*Run) (train.Method, error) { return &quasinewton.LBFGS{}, nil },
}
