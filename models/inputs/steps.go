package inputs

import (
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// stepsTensor is the tensor of a model file that holds the steps of second-order chains, as their Pack writes them.
const stepsTensor = "steps"

// FitSteps takes the steps of second-order chains, where c asks for these, from the labels of the training data. Those
// of a model that training continues, or learns from, stay, and its data must keep to them where their labels are
// known.
func (in *Inputs) FitSteps(c *config.Config, train *structured.Dataset) error {
	if c.Order < 2 {
		in.Steps = nil
		return nil
	}
	if y := train.Alphabet.Len(); y > chains.MostStepLabels {
		return structured.BadInput("%s: %d labels, expected at most %d with --order 2", train.Name, y, chains.MostStepLabels)
	}
	if in.Steps == nil {
		in.Steps = chains.NewSteps(train.Alphabet.Len(), func(yield func(y []int32) bool) {
			for i := range train.Len() {
				if !yield(train.Gold(i)) {
					return
				}
			}
		})
		return nil
	}
	if new := train.Alphabet.Len(); new > in.Steps.Labels {
		return structured.BadInput("%s: label %s is none of the model's, and a model of --order 2 takes no new ones",
			train.Name, train.Alphabet.Name(int32(in.Steps.Labels)))
	}
	for i := range train.Len() {
		if train.Partial(i) {
			continue
		}
		if gold := train.Gold(i); in.Steps.Breaks(gold) > 0 {
			t := in.Steps.Breaks(gold)
			return structured.BadInput("%s: label %s after %s, which the model's training data do not have; a model of "+
				"--order 2 takes no new steps",
				train.WhereToken(i, t), train.Alphabet.Name(gold[t]), train.Alphabet.Name(gold[t-1]))
		}
	}
	return nil
}

// loadSteps returns the steps in a model file, nil if there are none, and how many tensors held them.
func loadSteps(f *safetensors.File) (s *chains.Steps, tensors int, err error) {
	if _, ok := f.Tensors[stepsTensor]; !ok {
		return nil, 0, nil
	}
	packed, err := safetensors.Values[int32](f, stepsTensor, -1)
	if err == nil {
		s, err = chains.UnpackSteps(packed)
	}
	return s, 1, err
}
