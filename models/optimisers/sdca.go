package optimisers

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods/sdca"
)

// SDCA is stochastic dual coordinate ascent.
var SDCA = builtin(&Descriptor{
	Name:    "sdca",
	Summary: "dual coordinate ascent; no step size",
	When:    "for text, on attributes, with a smooth loss: a gap of 1e-3 after 10 to 20 passes",
	Settings: struct {
		Batching
		Threading
	}{},
	Losses: SmoothLosses, Sums: true, Certified: true, Prior: true, Dual: true, Ranks: true, OwnData: true, Blocks: true,
	Memory: 4,
	Check: func(r *Run) error {
		if r.Parallel == "async" && r.Batch > 0 {
			return structured.BadInput("--batch %d: with --parallel async a thread takes one example at a time", r.Batch)
		}
		return nil
	},
	Make: func(r *Run) (train.Method, error) {
		return &sdca.SDCA{Async: r.Parallel == "async", Warm: r.Continues}, nil
	},
})
