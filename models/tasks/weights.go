package tasks

import (
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// hamming returns the Hamming loss with c's label weights.
func hamming(c *config.Config, labels *structured.Alphabet) (structured.TaskLoss, error) {
	h := chains.Hamming{ByLength: c.LossByLength}
	if len(c.LabelWeights) == 0 {
		return h, nil
	}
	costs, err := NumberedWeights("label-weights", c.LabelWeights, labels)
	for _, cost := range costs {
		h.LabelWeights = append(h.LabelWeights, float32(cost))
	}
	return h, err
}

// The range of a label's weight that is not 0.
const (
	leastLabelWeight = 1e-9
	mostLabelWeight  = 1e9
)

// NumberedWeights returns the weight of every label, 1 by default; setting names the flag in messages.
func NumberedWeights(setting string, weights settings.LabelWeights, labels *structured.Alphabet) ([]float64, error) {
	w := make([]float64, labels.Len())
	for l := range w {
		w[l] = 1
	}
	for name, x := range weights {
		if err := settings.OneOf("--"+setting+": label", name, labels.Names()); err != nil {
			return nil, err
		}
		if x != 0 && !(x >= leastLabelWeight && x <= mostLabelWeight) {
			return nil, structured.BadInput("--%s %s=%v: expected 0, or a number from %g to %g", setting, name, x,
				leastLabelWeight, mostLabelWeight)
		}
		w[labels.Index(name)] = x
	}
	return w, nil
}
