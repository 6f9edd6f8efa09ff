package optimisers

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
)

// SGD takes stochastic gradients or subgradients.
var SGD = builtin(&Descriptor{
	Name:    "sgd",
	Summary: "stochastic (sub)gradients, plain or with momentum (Polyak's or Nesterov's)",
	When:    "for any net: simple, with a step size to tune",
	Settings: struct {
		StepSize
		Scheduling
		Averaging
		HeavyBall
		Clipping
		Warming
		Batching
		Averages
	}{},
	Smoothing: MaySmooth, Partial: true, Prior: true, Dropout: true, Ranks: true, InParts: inParts,
	Passes: 20, StepSetting: "lr",
	Vectors: func(s *Settings) float64 {
		if s.Momentum > 0 {
			return 2 // z and its copy
		}
		return 0
	},
	Batch: func(s *Settings, weights int) int {
		if s.Momentum > 0 {
			return batchedExamples
		}
		return manyWeightsBatch(weights)
	},
	Check: func(r *Run) error {
		if err := r.checkSteps(r); err != nil {
			return err
		}
		return checkWarming(r, "sgd")
	},
	ByPasses: ofSchedule,
	Resolve: func(s *Settings, _ *engine.Objective) {
		switch {
		case s.Schedule != "auto":
		case s.Momentum > 0:
			s.Schedule = "cosine"
		default:
			s.Schedule = "sqrt"
		}
	},
	Make: func(r *Run) (train.Method, error) {
		schedule, average, err := descent(r)
		return &methods.SGD{
			Rate: r.LR, Schedule: schedule, Halving: r.Halving, Span: methods.Span{Passes: r.Passes, WarmUp: r.WarmUp}, Averaging: average,
			Momentum: r.Momentum, Nesterov: r.Nesterov, Clip: r.Clip, Local: r.LocalSteps,
		}, err
	},
})

// inParts is Descriptor.InParts for methods that remember nothing of examples.
func inParts(*Settings) bool { return true }

// batchedExamples is the default number of examples of a step of the methods for networks.
const batchedExamples = 8

// manyWeightsBatch is the default number of examples of a step of methods that take single ones where weights are few.
// With many weights a step takes more examples, because updating the weights dominates its cost.
func manyWeightsBatch(weights int) int {
	const many = 1 << 17
	if weights > many {
		return 4
	}
	return 0
}

func descent(r *Run) (schedule methods.Schedule, average methods.Averaging, err error) {
	if r.Schedule != "auto" { // that Resolve decides
		if schedule, err = methods.ParseSchedule(r.Schedule); err != nil {
			return schedule, average, err
		}
	}
	average, err = methods.ParseAveraging(r.Average)
	return schedule, average, err
}

// checkWarming refuses a warm-up that is for prox-linear.
func checkWarming(r *Run, method string) error {
	if r.WarmUp < 0 {
		return structured.BadInput("--warm-up %v is for --method prox-linear; %s begins at its full step size with 0", r.WarmUp, method)
	}
	return nil
}

// stepsByPasses is Descriptor.ByPasses where steps become shorter from the first pass to the last.
const stepsByPasses = "the step size falls over all passes of a run: the bits will differ from those of a run that had as many from the start"

// ofSchedule is Descriptor.ByPasses for methods with a schedule.
func ofSchedule(s *Settings) string {
	if s.Schedule == "cosine" || s.Schedule == "geometric" || s.Schedule == "linear" {
		return stepsByPasses
	}
	return ""
}
