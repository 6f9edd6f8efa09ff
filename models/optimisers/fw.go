package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// FW is batch Frank-Wolfe.
var FW = builtin(&Descriptor{
	Name:    "fw",
	Summary: "batch Frank-Wolfe on the hinge's dual; no step size",
	When:    "as a reference: bcfw and bcpfw are faster everywhere",
	Settings: struct {
		Stepping
	}{},
	Losses: HingeOnly, Certified: true, Prior: true, Ranks: true, OwnData: true,
	Passes:  batchPasses,
	Vectors: func(*Settings) float64 { return 6 }, // g in float64, the best weights, and their copies
	Make: func(r *Run) (train.Method, error) {
		return &methods.FrankWolfe{Harmonic: r.FWStep == "harmonic", Warm: r.Continues}, nil
	},
})
