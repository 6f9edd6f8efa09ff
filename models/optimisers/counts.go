package optimisers

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// Counts makes a linear chain a hidden Markov model.
var Counts = builtin(&Descriptor{
	Name:     "counts",
	Summary:  "a hidden Markov model: log probabilities in closed form from counts, in one pass",
	When:     "for a baseline of labels of tokens in a second, and for --init of other methods",
	Settings: countSettings{Word: 0.01, Step: 0.1},
	Losses:   SmoothOnly, // it minimises none, but its probabilities are those of crf
	Chains:   true,
	Features: "hmm",
	Passes:   1,
	Closed:   true,
	Make: func(r *Run) (train.Method, error) {
		own := r.Own.(*countSettings)
		return &methods.Counts{Word: own.Word, Step: own.Step}, nil
	},
})

type countSettings struct {
	Word float64 `yaml:"word" min:"0" help:"added to the count of each word with each label"`
	Step float64 `yaml:"step" min:"0" help:"added to the count of each step between labels, start and end"`
}
