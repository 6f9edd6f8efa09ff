package optimisers

import (
	"cmp"

	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
)

// ProxLinear solves convex models of a network.
var ProxLinear = builtin(&Descriptor{
	Name:    "prox-linear",
	Summary: "convex models of the network, each on a batch and solved exactly; or on all examples and solved by --inner",
	When:    "for any net: no step size to tune",
	Settings: struct {
		Models
		Layering
		Subproblems
		Warming
		Tolerances
		Batching
		Filling
		Averages
	}{},
	Losses: OutputLosses, Partial: true, Prior: true, Dropout: true, Ranks: true, InParts: func(s *Settings) bool { return s.onBatches() }, L1OnCPU: true,
	Passes: 20, StepSetting: "eta",
	Vectors: func(s *Settings) float64 {
		switch {
		case s.ModelBatch > 0 && s.InnerSteps > 1:
			return 5 // v and its copy, q, and the point and a gradient of the linearised network
		case s.ModelBatch > 0:
			return 3 // v and its copy, q
		}
		return 0
	},
	Batch: func(s *Settings, weights int) int {
		if s.ModelBatch > 0 {
			return 0
		}
		return manyWeightsBatch(weights)
	},
	Within:  solvers,
	Check:   checkProxLinear,
	Resolve: resolveProxLinear,
	ByPasses: func(s *Settings) string {
		if s.ModelBatch > 0 {
			return stepsByPasses
		}
		return "the last iteration may have been cut short at the last pass: the bits may differ from those of a run that had as many passes from the start"
	},
	Make: func(r *Run) (train.Method, error) {
		var inner func(int) train.Method
		if by, ok := Find(r.Inner); ok && !r.onBatches() {
			plain := *r
			plain.Continues = false // subproblems begin where the one before ended
			if _, err := by.New(&plain); err != nil {
				return nil, err
			}
			inner = func(int) train.Method {
				m, _ := by.New(&plain)
				return m
			}
		}
		whole := methods.ProxLinear{
			Passes: r.Passes, Inner: inner, InnerPasses: r.InnerPasses, Tolerance: r.InnerGap, WarmUp: int(r.WarmUp), ConstantMu: r.ConstantMu,
		}
		if r.ModelBatch > 0 {
			eta := r.Eta
			if r.Continues {
				eta = cmp.Or(eta, continuedEta)
			}
			return &methods.BatchProxLinear{
				ModelBatch: int(r.ModelBatch), Eta: eta, InnerSteps: r.InnerSteps, Local: r.LocalSteps, Passes: r.Passes, Finish: r.Finish, Finisher: whole,
			}, nil
		}
		whole.Eta = r.Eta
		return &whole, nil
	},
})

// onBatches reports whether all models of prox-linear are those of batches. Then it has no inner method.
func (m *Models) onBatches() bool { return m.ModelBatch > 0 && m.Finish == 0 }

// batchSteps stands for the steps on models of batches, which ask the oracle as those of sgd do.
var batchSteps = &Descriptor{Smoothing: MaySmooth}

// solvers returns the methods that solve the models, all that may where the choice is open.
func solvers(s *Settings) ([]*Descriptor, string) {
	if s.onBatches() {
		return []*Descriptor{batchSteps}, fmt.Sprintf("--model-batch %v", s.ModelBatch)
	}
	by := "--inner " + s.Inner
	if d, ok := Find(s.Inner); ok {
		return []*Descriptor{d}, by
	}
	return slices.DeleteFunc(All(), func(d *Descriptor) bool { return !d.CanBeInner() }), by
}

// resolveProxLinear decides what the models hold, and who solves them. Settings that only models of all examples have
// ask for these.
func resolveProxLinear(s *Settings, o *engine.Objective) {
	if s.ModelBatch == 0 {
		whole := s.asksForAll() || o.Center != nil && o.L1 == 0 && !nets.Tunes(o.Scorer)
		s.ModelBatch = settings.ModelBatch(min(max(o.Data.Len()/fewestModels, 1), batchedExamples))
		if nets.Tunes(o.Scorer) {
			s.ModelBatch = tunedExamples
		}
		if whole && s.Finish == 0 || o.Scorer.Affine() && o.L1 == 0 {
			s.ModelBatch = settings.AllExamples
		}
	}
	if s.ModelBatch > 0 && nets.Tunes(o.Scorer) { // with Finish, too: the passes before it are on batches
		pace := 1.0
		if nets.Adapts(o.Scorer) {
			pace = adapterPace
		}
		s.Eta, s.LREncoder = cmp.Or(s.Eta, tunedEta), cmp.Or(s.LREncoder, pace*encoderEta)
	}
	switch {
	case s.onBatches() || s.Inner != "auto":
	case o.Loss == engine.Hinge:
		s.Inner = BCFW.Name
	default:
		s.Inner = Casimir.Name
	}
}

// fewestModels is how many models a pass has at least, as far as there are examples: with few examples, models of eight
// are too few steps.
const fewestModels = 128

// asksForAll reports whether there are settings that only models of all examples have.
func (s *Settings) asksForAll() bool {
	return s.Batch > 0 || s.InnerPasses > 0 || s.InnerGap > 0 || s.WarmUp != 0 || s.ConstantMu || s.Inner != "auto"
}

// continuedEta is the first step length of models of batches where training continues a model: longer ones, which suit
// random weights, lose at first what the model had learned.
const continuedEta = 0.03

// The first step lengths of models of batches for networks that train an encoder.
const (
	tunedEta   = 1e-2
	encoderEta = 1e-3
)

func checkProxLinear(r *Run) error {
	whole := func(name string, value any) error {
		return structured.BadInput("--%s %v has no effect with --model-batch %v; it is for models of all examples (--model-batch all, or --finish N)",
			name, value, r.ModelBatch)
	}
	all := r.ModelBatch == settings.AllExamples
	lengths := all || r.ModelBatch == 0 && r.Finish == 0 && r.asksForAll() // of steps on batches, of which there are none
	switch {
	case lengths && r.LREncoder > 0:
		return structured.BadInput("--lr-encoder %v is for steps on models of batches, and these are models of all examples; give --model-batch N, or leave it out", r.LREncoder)
	case lengths && r.LayerDecay != 1:
		return structured.BadInput("--layer-decay %v is for steps on models of batches, and these are models of all examples; give --model-batch N, or leave it out", r.LayerDecay)
	case r.WarmUp != math.Trunc(r.WarmUp):
		return structured.BadInput("--warm-up %v: prox-linear warms up by whole passes of sgd", r.WarmUp)
	case all && r.Dropout > 0:
		return structured.BadInput("--dropout %v: models of all examples have no dropout; use --model-batch N, or --method sgd or adam", r.Dropout)
	case all && r.InnerSteps > 0:
		return structured.BadInput("--inner-steps %d is for models of batches; with --model-batch all, --inner-passes says how much work a model gets", r.InnerSteps)
	case all && r.Finish > 0:
		return structured.BadInput("--finish %d has no effect with --model-batch all, whose passes all use models of all examples", r.Finish)
	case r.Passes > 0 && r.Finish >= r.Passes:
		return structured.BadInput("--finish %d: expected fewer than --passes %d; --model-batch all is for models of all examples from the start", r.Finish, r.Passes)
	case r.ModelBatch > 0 && r.WarmUp != 0:
		return structured.BadInput("--warm-up %v is for --model-batch all; models of batches need no passes of sgd before them", r.WarmUp)
	case r.onBatches() && r.Batch > 0:
		return structured.BadInput("--batch %d is for the inner method of prox-linear with --model-batch all; with --model-batch %v a step takes %v examples",
			r.Batch, r.ModelBatch, r.ModelBatch)
	case r.BatchTokens > 0 && r.ModelBatch == settings.AllExamples:
		return structured.BadInput("--batch-tokens %d is for models of batches, not for --model-batch all", r.BatchTokens)
	case r.LocalSteps > 0 && (lengths || r.InnerSteps > 1 || r.Finish > 0):
		return structured.BadInput("--local-steps %d is for models of batches that take one step: give --model-batch N, and leave out --inner-steps and --finish", r.LocalSteps)
	case r.onBatches() && r.Inner != "auto":
		return whole("inner", r.Inner)
	case r.onBatches() && r.InnerPasses > 0:
		return whole("inner-passes", r.InnerPasses)
	case r.onBatches() && r.InnerGap > 0:
		return whole("inner-gap", r.InnerGap)
	case r.onBatches() && r.ConstantMu:
		return whole("constant-mu", r.ConstantMu)
	}
	return nil
}
