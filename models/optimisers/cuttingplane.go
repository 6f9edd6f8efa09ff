package optimisers

import (
	"cmp"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// CuttingPlane is the 1-slack cutting plane method.
var CuttingPlane = builtin(&Descriptor{
	Name:    "cutting-plane",
	Summary: "the 1-slack cutting plane method of SVMstruct; no step size",
	When:    "as a reference; where few passes of a slow oracle run on many machines or a GPU",
	Settings: struct {
		Cutting
	}{},
	Losses: HingeOnly, Certified: true, Prior: true, Ranks: true, OwnData: true,
	Passes:  batchPasses,
	Vectors: func(s *Settings) float64 { return 2 * float64(cmp.Or(s.Planes, 16)) },
	Make: func(r *Run) (train.Method, error) {
		return &methods.CuttingPlane{Planes: r.Planes, Warm: r.Continues}, nil
	},
})
