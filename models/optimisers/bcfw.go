package optimisers

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// BCFW is block-coordinate Frank-Wolfe.
var BCFW = builtin(&Descriptor{
	Name:    "bcfw",
	Summary: "block-coordinate Frank-Wolfe; no step size",
	When:    "for linear nets and the hinge, where nothing sums over outputs; with --l1 on dense features",
	Settings: struct {
		Averaging
		Batching
	}{},
	Losses: HingeOnly, Certified: true, Prior: true, Dual: true, Ranks: true, OwnData: true, Blocks: true, L1OnCPU: true,
	Inner: "bcfw", Memory: 4,
	Check: func(r *Run) error {
		if r.Average == "ema" {
			return structured.BadInput("--average ema is for --method sgd and adam; bcfw has weighted, uniform, pass and none")
		}
		return nil
	},
	Make: func(r *Run) (train.Method, error) {
		average, err := methods.ParseAveraging(r.Average)
		return &methods.BCFW{Averaging: average, Warm: r.Continues, Divide: true}, err
	},
})
