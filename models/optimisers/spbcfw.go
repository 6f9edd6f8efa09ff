package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// SPBCFW is block-coordinate saddle-point Frank-Wolfe.
var SPBCFW = builtin(&Descriptor{
	Name:    "sp-bcfw",
	Summary: "block-coordinate saddle-point Frank-Wolfe on the hinge in a ball ‖w‖₁ ≤ R (--radius); no step size",
	When:    "for weights whose ℓ1 norm is given; bcpfw with --l1 certifies a narrower gap of the penalised problem",
	Settings: struct {
		Batching
	}{},
	Losses: HingeOnly, Certified: true, Memory: 4,
	Vectors: func(*Settings) float64 { return 6 }, // v, g and the best weights, and their copies
	Make:    func(*Run) (train.Method, error) { return &methods.SaddleBCFW{}, nil },
})
