package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
)

// LBFGS is the limited-memory quasi-Newton method.
var LBFGS = builtin(&Descriptor{
	Name:    "lbfgs",
	Summary: "L-BFGS, on all examples at once, with the curvature of dense inputs; no step size",
	When:    "for linear nets on dense features and smooth losses; the batch reference; for labels known in part; without --mu the hinge is smoothed less and less",
	Settings: struct {
		Preconditioning
	}{},
	Losses: SmoothObjectives, Smoothing: Smooths, Certified: true, Partial: true, Prior: true, Ranks: true, InParts: inParts, OwnData: true,
	Passes: batchPasses,
	Make:   func(r *Run) (train.Method, error) { return &quasinewton.LBFGS{Plain: r.Preconditioner == "none"}, nil },
})
