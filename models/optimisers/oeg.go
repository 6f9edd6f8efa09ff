package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods/sdca"
)

// OEG is online exponentiated gradient.
var OEG = builtin(&Descriptor{
	Name:    "oeg",
	Summary: "online exponentiated gradient on the dual; no step size",
	When:    "as a reference: sdca is its faster form, and the hinge's dual suits bcpfw better",
	Settings: struct {
		Batching
	}{},
	Losses: OutputLosses, Sums: true, Certified: true, Prior: true, Dual: true, Ranks: true, OwnData: true, Blocks: true,
	Memory: 4,
	Make: func(r *Run) (train.Method, error) {
		return &sdca.SDCA{Online: true, Warm: r.Continues}, nil
	},
})
