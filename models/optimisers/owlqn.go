package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
)

// OWLQN is L-BFGS for sparse models.
var OWLQN = builtin(&Descriptor{
	Name:    "owl-qn",
	Summary: "L-BFGS for sparse models (Andrew and Gao 2007); no step size",
	When:    "as lbfgs, with --l1; the hinge needs --mu",
	Losses:  SmoothObjectives, Smoothing: Smooths, Certified: true, Partial: true, Prior: true, Ranks: true, OwnData: true,
	Passes: batchPasses,
	Make:   func(*Run) (train.Method, error) { return &quasinewton.OWLQN{}, nil },
})
