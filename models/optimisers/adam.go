package optimisers

import (
	"cmp"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
)

// Adam is AdamW.
var Adam = builtin(&Descriptor{
	Name:    "adam",
	Summary: "AdamW; every step moves every weight but rows of an encoder's table of pieces",
	When:    "for any net, for comparison",
	Settings: struct {
		StepSize
		Layering
		Scheduling
		Averaging
		Clipping
		Warming
		Batching
		Filling
		Averages
	}{},
	Partial: true, Prior: true, Dropout: true, Ranks: true, InParts: inParts,
	Passes: 20, StepSetting: "lr",
	Vectors: func(*Settings) float64 { return 4 }, // v, m and their copies
	Batch: func(s *Settings, _ int) int {
		if s.BatchTokens > 0 {
			return 0
		}
		return batchedExamples
	},
	Check:    func(r *Run) error { return checkWarming(r, "adam") },
	ByPasses: ofSchedule,
	Resolve: func(s *Settings, o *engine.Objective) {
		if nets.Tunes(o.Scorer) {
			tuneByAdam(s, nets.Adapts(o.Scorer))
		}
		if s.Schedule == "auto" {
			s.Schedule = "cosine"
		}
	},
	Make: func(r *Run) (train.Method, error) {
		schedule, average, err := descent(r)
		return &methods.Adam{
			Rate: r.LR, Schedule: schedule, Halving: r.Halving, Span: methods.Span{Passes: r.Passes, WarmUp: r.WarmUp}, Averaging: average, Clip: r.Clip, Local: r.LocalSteps,
		}, err
	},
})

// The usual recipe for networks that train an encoder.
const (
	tunedRate     = 1e-3 // step length of the other weights
	encoderRate   = 1e-4
	tunedWarming  = 0.1 // of the passes
	tunedExamples = 16  // in a step
)

// adapterPace is how many times as long steps of adapters are as those of an encoder's weights: a factor of each starts
// at zero.
const adapterPace = 10

// tuneByAdam fills in settings for a network that trains an encoder, or adapters of it.
func tuneByAdam(s *Settings, adapters bool) {
	if s.WarmUp == 0 && s.Schedule == "auto" {
		s.WarmUp = tunedWarming * float64(s.Passes)
	}
	if s.Schedule == "auto" {
		s.Schedule = "linear"
	}
	pace := 1.0
	if adapters {
		pace = adapterPace
	}
	s.LR, s.LREncoder = cmp.Or(s.LR, tunedRate), cmp.Or(s.LREncoder, pace*encoderRate)
	if s.BatchTokens == 0 {
		s.Batch = cmp.Or(s.Batch, tunedExamples)
	}
}
