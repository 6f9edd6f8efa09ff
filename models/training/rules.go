package training

import (
	"log/slog"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// ruleNow is what identities say of a rule that a run follows. When a rule changes again, its name changes.
const ruleNow = "as of this version"

// rules returns the rules that concern the run.
func (r *Run) rules() (rules []train.Rule) {
	if m, ok := r.method.(*methods.BatchProxLinear); ok && m.SharesLambda(r.problem) {
		rules = append(rules, train.Rule{
			Name:   "regulariser of models of few examples",
			Change: "models of fewer than 8 examples (--model-batch) had all of λ, and now have a part of it",
		})
	}
	if r.model.Encoder != nil && r.model.Standard != nil && !r.config.Standardise {
		rules = append(rules, train.Rule{
			Name:   "scale of the encoder's rows",
			Change: "rows of an encoder beside attributes were read as they are, and now are scaled",
		})
	}
	return rules
}

// warnOfRules warns of rules that the run may have followed in another way before it was interrupted.
func warnOfRules(log *slog.Logger, unnamed []train.Rule) {
	for _, r := range unnamed {
		log.Warn("if the run began with an earlier version of dsp, its weights will differ from those of a run without a break", "because", r.Change)
	}
}
