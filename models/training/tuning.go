package training

import (
	"math"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/nets/encoders"
	"github.com/dsp-go/dsp/train/engine"
)

// rates returns the factors of the step lengths of a network that trains an encoder: those of the encoder's weights
// are --lr-encoder over the step length of the others, times --layer-decay for each layer above; nil for another
// network.
func rates(c *config.Config, m *models.Model) engine.Rates {
	if m.Encoder == nil || m.Encoder.Tuned == nil {
		return nil
	}
	tuned, ratio := m.Encoder.Tuned, 1.0
	if c.LREncoder > 0 {
		ratio = c.LREncoder / c.FirstStep()
	}
	var all engine.Rates
	for _, a := range m.Net.Layout() {
		factor := 1.0
		if name, ok := strings.CutPrefix(a.Name, encoders.Prefix); ok {
			above := tuned.Read.To - tuned.StateOf(name)
			factor = ratio * math.Pow(c.LayerDecay, float64(above))
		}
		all = append(all, engine.Rate{End: a.Offset + a.Len(), Factor: factor})
	}
	return all
}
