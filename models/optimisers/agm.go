package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// AGM is Nesterov's accelerated gradient method.
var AGM = builtin(&Descriptor{
	Name:    "agm",
	Summary: "Nesterov's accelerated gradient by estimate functions (AGM-EF), on a smoothed objective; no step size",
	When:    "as a reference: lbfgs needs fewer passes on smooth losses, casimir on the hinge",
	Settings: struct {
		Estimating
	}{},
	Smoothing: Smooths, Certified: true, Prior: true, Ranks: true, OwnData: true, L1OnCPU: true,
	Passes:  batchPasses,
	Vectors: func(*Settings) float64 { return 10 }, // x, z, x_0, the mean in float64, and their copies
	Make:    func(r *Run) (train.Method, error) { return &methods.AGM{One: r.AGMMemory == "one"}, nil },
})
