package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
)

// Adam is AdamW.
var Adam = &Descriptor{
	Name:    "adam",
	Summary: "AdamW; every step moves every weight but rows of an encoder's table of pieces",
	When:    "for any net, for comparison",
	Settings: struct {
		StepSize
		Scheduling
		Averaging
		Clipping
		Warming
		Batching
	}{},
	Partial: true, Prior: true, Dropout: true,
	Passes: 20, StepSetting: "lr",
	Vectors:  func(*Settings) float64 { return 5 }, // v, m and their copies, q
	Batch:    func(*Settings, int) int { return batchedExamples },
	Check:    func(r *Run) error { return checkWarming(r, "adam") },
	ByPasses: ofSchedule,
	Resolve: func(s *Settings, _ *engine.Objective) {
		if s.Schedule == "auto" {
			s.Schedule = "cosine"
		}
	},
	Make: func(r *Run) (train.Method, error) {
		schedule, average, err := descent(r)
		return &methods.Adam{
			Rate: r.LR, Schedule: schedule, Halving: r.Halving, Span: methods.Span{Passes: r.Passes, WarmUp: r.WarmUp}, Averaging: average, Clip: r.Clip,
		}, err
	},
}
