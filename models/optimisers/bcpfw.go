package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// BCPFW is block-coordinate Frank-Wolfe with pairwise steps.
var BCPFW = builtin(&Descriptor{
	Name:    "bcpfw",
	Summary: "bcfw with pairwise steps and cached answers, visiting examples with a large gap; no step size",
	When:    "for linear nets and the hinge, on attributes or where the oracle is slow: fewest oracle calls",
	Settings: struct {
		Visiting
	}{},
	Losses: HingeOnly, Certified: true, Prior: true, Dual: true, Ranks: true, OwnData: true, Blocks: true,
	Make: func(r *Run) (train.Method, error) {
		return &methods.BCPFW{Draw: r.Sampling == "gap", Away: r.BlockSteps == "away", CacheLocal: r.CacheLocal, CacheGlobal: r.CacheGlobal, Warm: r.Continues}, nil
	},
})
