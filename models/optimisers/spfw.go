package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// SPFW is saddle-point Frank-Wolfe.
var SPFW = builtin(&Descriptor{
	Name:     "sp-fw",
	Summary:  "saddle-point Frank-Wolfe on the hinge in a ball ‖w‖₁ ≤ R (--radius); no step size",
	When:     "as a reference for sp-bcfw",
	Settings: struct{}{},
	Losses:   HingeOnly, Certified: true, Ranks: true, OwnData: true,
	Passes:  batchPasses,
	Vectors: func(*Settings) float64 { return 6 }, // g in float64, the best weights, and their copies
	Make:    func(*Run) (train.Method, error) { return &methods.SaddleFW{}, nil },
})
