package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// NSlack is the n-slack cutting plane method.
var NSlack = builtin(&Descriptor{
	Name:    "n-slack",
	Summary: "cutting planes of each example, and exact steps between them without the oracle; no step size",
	When:    "for linear nets of dense inputs and the hinge: few passes",
	Losses:  HingeOnly, Certified: true, Prior: true, Ranks: true,
	Vectors: func(*Settings) float64 { return 9 }, // w, v and the best, three of extrapolations, those that make planes, and copies
	Make: func(r *Run) (train.Method, error) {
		return &methods.NSlack{Warm: r.Continues}, nil
	},
})
